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
    section('General', '', Object.fromEntries(single), values),
    ...groups.map(([name, { properties = {}, description = '' }]) =>
      section(`\`${name}\``, `${description}.`, properties, values[name] as Values, `${name}.`),
    ),
  ].join('\n')
}

function section(
  heading: string,
  about: string,
  properties: NonNullable<ValueSchema['properties']>,
  values: Values,
  prefix = '',
): string {
  const rows = rowsOf(properties, values, prefix)
  const header = ['value', 'default', 'meaning']
  const lines = [header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`)
  return [`## ${heading}`, '', ...(about === '' ? [] : [about, '']), ...lines, ''].join('\n')
}

function rowsOf(properties: NonNullable<ValueSchema['properties']>, values: Values, prefix: string): string[][] {
  return Object.entries(properties).flatMap(([name, value]) => {
    const path = `${prefix}${name}`
    if (value.properties !== undefined && Object.keys(value.properties).length > 0)
      return rowsOf(value.properties, values[name] as Values, `${path}.`)
    if (value.description === undefined) throw new Error(`${path} has no description in values.schema.json`)
    if (!(name in values)) throw new Error(`${path} has no default in values.yaml`)
    return [row(path, shown(values[name]), value.description), ...memberRows(value.items, `${path}[]`)]
  })
}

/** Rows for the members of an entry of a list. They have no defaults. */
function memberRows({ properties = {}, required = [] }: ValueSchema = {}, path: string): string[][] {
  return Object.entries(properties).flatMap(([name, member]) => {
    if (member.description === undefined) throw new Error(`${path}.${name} has no description in values.schema.json`)
    const isRequired = required.includes(name)
    return [
      row(`${path}.${name}`, isRequired ? 'required' : 'none', member.description),
      ...memberRows(member, `${path}.${name}`),
    ]
  })
}

const row = (path: string, value: string, meaning: string): string[] => [
  `\`${path}\``,
  value,
  meaning.replaceAll('|', '\\|'),
]

const shown = (value: unknown): string =>
  value === '' ? 'empty' : `\`${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('|', '\\|')}\``
