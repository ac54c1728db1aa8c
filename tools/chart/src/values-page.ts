import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { repository } from './chart.ts'

export interface ValueSchema {
  readonly description?: string
  readonly type?: string
  readonly enum?: readonly (string | number)[]
  readonly properties?: Readonly<Record<string, ValueSchema>>
  readonly required?: readonly string[]
  readonly items?: ValueSchema
}

type Values = Readonly<Record<string, unknown>>

const chartFile = (name: string): string => readFileSync(join(repository, 'infra/helm/switchhook', name), 'utf8')

export const valuesPageFile = join(repository, 'docs', 'helm-values.md')

export const readSchema = (): ValueSchema => JSON.parse(chartFile('values.schema.json')) as ValueSchema
export const readValues = (): Values => parse(chartFile('values.yaml')) as Values

const INTRODUCTION = `# Values of the Helm chart

<!-- Written by \`make chart\` from infra/helm/switchhook/values.schema.json and values.yaml. -->

Helm checks values against this schema; an unknown value is an error. [Kubernetes](kubernetes.md) explains how to
install the chart, and [infra/helm/examples](../infra/helm/examples) has values for common cases. Names of services are
\`api\`, \`fanout\` and \`deliveryWorker\`; the variables for \`settings\` are those of the [configuration
reference](configuration.md).
`

/**
 * The reference of all values: a section for each group, a row for each value.
 * @throws for a value without a description or a default
 */
export function valuesPage(schema: ValueSchema, values: Values): string {
  const entries = Object.entries(schema.properties ?? {}).filter(([name]) => name !== 'global')
  const single = entries.filter(([, { properties }]) => properties === undefined)
  const groups = entries.filter(([, { properties }]) => properties !== undefined)
  return [
    INTRODUCTION,
    section('General', [], rowsOf({ properties: Object.fromEntries(single) }, '', values)),
    ...groups.map(([name, group]) =>
      section(`\`${name}\``, [`${group.description ?? ''}.`, ''], rowsOf(group, `${name}.`, values[name] as Values)),
    ),
  ].join('\n')
}

function section(heading: string, about: readonly string[], rows: readonly string[][]): string {
  const header = ['value', 'default', 'meaning']
  const lines = [header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`)
  return [`## ${heading}`, '', ...about, ...lines, ''].join('\n')
}

/** A row for each value. @param values the defaults; none for the members of an entry of a list */
function rowsOf({ properties = {}, required = [] }: ValueSchema, prefix: string, values?: Values): string[][] {
  return Object.entries(properties).flatMap(([name, value]) => {
    const path = `${prefix}${name}`
    const isGroup = Object.keys(value.properties ?? {}).length > 0
    if (values !== undefined && isGroup) return rowsOf(value, `${path}.`, values[name] as Values)
    if (value.description === undefined) throw new Error(`${path} has no description in values.schema.json`)
    if (values !== undefined && !(name in values)) throw new Error(`${path} has no default in values.yaml`)
    const fallback = values === undefined ? (required.includes(name) ? 'required' : 'none') : shown(values[name])
    const members = isGroup ? rowsOf(value, `${path}.`) : rowsOf(value.items ?? {}, `${path}[].`)
    return [[`\`${path}\``, fallback, value.description.replaceAll('|', '\\|')], ...members]
  })
}

const shown = (value: unknown): string =>
  value === '' ? 'empty' : `\`${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('|', '\\|')}\``
