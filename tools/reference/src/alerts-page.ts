import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../../..')

/** The page that shows the alert rules. */
export const ALERTS_PAGE = join(root, 'docs/alerts.md')

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string }
}

/** The alert rules of a Prometheus file. */
export interface Rules {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[]
}

export const readRules = (): Rules =>
  parse(readFileSync(join(root, 'infra/helm/switchhook/files/alerts.yml'), 'utf8')) as Rules

/**
 * The page of alerts with the first paragraph of each section as its rule says: severity, condition and summary. The introduction and the steps below the
 * paragraphs are written by hand, and kept.
 * @throws Error for an alert without a section, or a section without an alert
 */
export function fillAlerts(page: string, { groups }: Rules): string {
  const [introduction = ''] = page.split(/^## /m, 1)
  const steps = new Map(
    page.split(/^### /m).map((section) => {
      const [name = '', , ...paragraphs] = section
        .replace(/^## .*/ms, '')
        .trim()
        .split('\n\n')
      return [name, paragraphs.join('\n\n')]
    }),
  )
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))
  const stale = [...page.matchAll(/^### (.*)$/gm)].map(([, name = '']) => name).filter((name) => !alerts.includes(name))
  if (stale.length > 0) throw new Error(`docs/alerts.md describes ${stale.join(', ')}, which alerts.yml does not have`)
  const sections = groups.map(({ name, rules }) => {
    const filled = rules.map((rule) => {
      const written = steps.get(rule.alert)
      if (!written) throw new Error(`docs/alerts.md has no steps for ${rule.alert}: add "### ${rule.alert}"`)
      return `### ${rule.alert}\n\n${leadOf(rule)}\n\n${written}`
    })
    return [`## ${titleOf(name)}`, ...filled].join('\n\n')
  })
  return `${introduction}${sections.join('\n\n')}\n`
}

const titleOf = (group: string): string =>
  group.replace('switchhook-', '').replace(/^./, (first) => first.toUpperCase())

function leadOf({ expr, for: wait = '0m', labels: { severity }, annotations: { summary } }: Rule): string {
  const [, threshold] = /([<>]=? [\d.]+)$/m.exec(expr) ?? []
  const condition = [
    titleOf(severity),
    ...(threshold === undefined ? [] : [`at \`${threshold}\``]),
    ...(wait === '0m' ? [] : [`for ${wait}`]),
  ]
  const text = `**${condition.join(' ')}.** ${inWords(summary)}`
  return text.replaceAll(/(.{1,100})(?: |$)/g, '$1\n').trimEnd()
}

/** Prometheus' templates, as a reader understands them. */
const inWords = (text: string): string =>
  text
    .replaceAll(/\{\{ \$value \| humanizePercentage \}\}/g, 'N %')
    .replaceAll(/\{\{ \$value \| humanizeDuration \}\}/g, 'N seconds')
    .replaceAll(/\{\{ \$value[^}]*\}\}/g, 'N')
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, '_$1_')
