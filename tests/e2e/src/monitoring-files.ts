import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The root of the repository. */
export const root = join(import.meta.dirname, '../../..')

export const monitoringFolder = join(root, 'infra/monitoring')
/** The alerts and the dashboard are files of the Helm chart. */
const ALERTS = 'infra/helm/switchhook/files/alerts.yml'
export const alertsFile = join(root, ALERTS)

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const metricsPage = (): string => read('docs/metrics.md')

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

/** Every dashboard expression with the title of its panel. */
export function dashboardExpressions(): readonly (readonly [title: string, expression: string])[] {
  const { panels } = JSON.parse(read('infra/helm/switchhook/files/dashboard.json')) as {
    panels: readonly Panel[]
  }
  return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const))
}

/** The rows of the tables on the page of metrics. */
export const documentedMetrics = (): string[] =>
  [...metricsPage().matchAll(/^\| `(switchhook_\w+)`/gm)].map(([, name = '']) => name)

/** The links to the sections of the page of alerts. */
export const alertAnchors = (): string[] =>
  [...read('docs/alerts.md').matchAll(/^### (\w+)$/gm)].map(([, name = '']) => `docs/alerts.md#${name.toLowerCase()}`)

/** The lines of the alert rules, or of their tests, that begin with this key. */
export const alertLines = (file: 'alerts.yml' | 'alerts.test.yml', key: string): string[] =>
  [
    ...read(file === 'alerts.yml' ? ALERTS : `infra/monitoring/${file}`).matchAll(
      new RegExp(`^ +(?:- )?${key}: (.*)$`, 'gm'),
    ),
  ].map(([, value = '']) => value)

/** The conditions of the alert rules. */
export const alertExpressions = (): string[] =>
  [...read(ALERTS).matchAll(/expr: \|\n((?: {10}.*\n)+)/g)].map(([, expression = '']) => expression)
