import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import * as contracts from '@switchhook/contracts'
import openapiTypescript, { astToString } from 'openapi-typescript'
import { type ApiDocument, describeOperations, type Json, queryNameOf } from './client-operations.ts'

const HEADER = '// Written by make docs from docs/openapi.json and packages/contracts.\n'

/** The generated sources of packages/products/client, by file name. */
export async function clientSources(document: ApiDocument): Promise<Readonly<Record<string, string>>> {
  return {
    'schemas.ts': `${HEADER}${await schemasText(document)}`,
    'operations.ts': `${HEADER}${describeOperations(document)}`,
    'numbers.ts': `${HEADER}${numbersText()}`,
    'filter.ts': `${HEADER}${conditionText()}`,
  }
}

const FILTERS = join(import.meta.dirname, '../../../packages/contracts/src/subscriptions/filter/filter.ts')

/** The type of a filter's condition. The document has none, because generators make no usable type of a union. */
function conditionText(): string {
  const [declarations] =
    /^type FilterScalar .*?(?=\n\n\/\*\* The conditions of one event type)/ms.exec(readFileSync(FILTERS, 'utf8')) ?? []
  if (declarations === undefined) throw new Error(`${FILTERS} does not declare FilterScalar and FilterCondition`)
  return `${declarations}\n`
}

/** Whether it is an enum that is transmitted as numbers. */
const isEnum = (table: unknown): table is object =>
  typeof table === 'object' &&
  table !== null &&
  !Array.isArray(table) &&
  Object.values(table).every((value) => typeof value === 'number')

function numbersText(): string {
  const tables = Object.entries(contracts).flatMap(([name, table]) =>
    isEnum(table) ? [declarationOf(name, table)] : [],
  )
  const types = declarationOf('EVENT_TYPES', contracts.EVENT_TYPES)
  const states = declarationOf('DELIVERY_STATES', contracts.DELIVERY_STATES)
  return [
    ...tables,
    `/** The event types that this version of the client knows. */\n${types}`,
    `/** The states of a delivery that this version of the client knows. */\n${states}`,
  ].join('\n')
}

/** A constant as the formatter writes it: on one line if it fits. */
function declarationOf(name: string, value: object): string {
  const literal = JSON.stringify(value, null, 2)
    .replaceAll('"', "'")
    .replaceAll(/'(\w+)':/g, '$1:')
  const declaration = `export const ${name} = ${literal} as const\n`
  const line = declaration.replaceAll(/\n +/g, ' ').replace(/\n(?=[\]}])/, ' ')
  return line.length <= 120 ? line : declaration
}

/** One interface with every schema of the document, and with the query parameters of each operation as a schema. */
async function schemasText({ paths, components }: ApiDocument): Promise<string> {
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  const queries = operations.flatMap(({ operationId, parameters = [] }): [string, Json][] => {
    const inQuery = parameters.filter((parameter) => parameter.in === 'query')
    const properties = inQuery.map(({ name, description, schema }) => [name, { description, ...schema }] as const)
    return inQuery.length === 0
      ? []
      : [[queryNameOf(operationId), { type: 'object', properties: Object.fromEntries(properties) }]]
  })
  // The client has the constants of numbers from packages/contracts.
  const described = Object.entries(components.schemas).filter(([, schema]) => !('x-enum-varnames' in schema))
  const schemas = Object.fromEntries([...described, ...queries])
  const shared = Object.entries(PARTS).map(([name, pair]) => [name, sharedPart(pair.map((one) => schemas[one] ?? {}))])
  const all: Readonly<Record<string, Json>> = { ...Object.fromEntries(shared), ...schemas }
  const written = Object.fromEntries(Object.entries(all).map(([name, one]) => [name, typed(extending(one, all))]))
  const types = astToString(
    await openapiTypescript(
      {
        openapi: '3.1.0',
        info: { title: '', version: '' },
        paths: {},
        components: { schemas: written as object as {} },
      },
      { defaultNonNullable: false, emptyObjectsUnknown: true },
    ),
  )
  const [, inner = ''] = /^ {4}schemas: \{\n(.*?)^ {4}\};$/ms.exec(types) ?? []
  const flat = inner
    // From 4 spaces a level to 2, and two levels less.
    .replaceAll(/^ +/gm, ({ length }) => ' '.repeat(Math.floor((length - 4) / 2) + (length % 2)))
    .replaceAll(/\/\*\*\n *\* (.*)\n *\* @enum.*\n *\*\//g, '/** $1 */')
    .replaceAll('components["schemas"]', 'Schemas')
    .replaceAll('@description ', '')
    // The client has these constants under the name of their table.
    .replaceAll(/ Constants: `\w+`\./g, '')
    .replaceAll(/\{\s+\[key: string\]: \{\s+\[key: string\]: (.*);\s+\};\s+\}/g, 'Record<string, Record<string, $1>>')
    .replaceAll(/\{\s+\[key: string\]: (.*);\s+\}/g, 'Record<string, $1>')
    .replaceAll(
      'Record<string, Record<string, unknown[]>>',
      'Record<string, Record<string, readonly FilterCondition[]>>',
    )
  return `import type { FilterCondition } from './filter.ts'\n\nexport interface Schemas {\n${flat}}\n`
}

/** What several schemas have in common and the document repeats, by its name in the client: the members that both share. */
const PARTS: Readonly<Record<string, readonly [string, string]>> = {
  AnyDelivery: ['CallStatusDelivery', 'AgentStatusDelivery'],
  NextPage: ['AgentPage', 'CallPage'],
  PageQuery: ['ListAgentsQuery', 'ListCallsQuery'],
  SubscriptionSettings: ['SubscriptionInput', 'SubscriptionChange'],
}

function sharedPart([one = {}, other = {}]: readonly Json[]): Json {
  const members = membersOf(other)
  const names = Object.keys(one['properties'] as Json).filter((name) =>
    isDeepStrictEqual(membersOf(one)[name], members[name]),
  )
  return onlyMembers(one, (name) => names.includes(name))
}

/** A schema that has all members of another one, as that one and the rest. */
function extending(schema: Json, schemas: Readonly<Record<string, Json>>): Json {
  const own = membersOf(schema)
  const bases = Object.entries(schemas).filter(([name, other]) => {
    const members = Object.entries(membersOf(other))
    const isBase = name in PARTS || members.length >= 4
    return isBase && other !== schema && members.every(([member, one]) => isDeepStrictEqual(own[member], one))
  })
  const [base] = bases.toSorted(([, a], [, b]) => sizeOf(b) - sizeOf(a))
  if (base === undefined) return schema
  const rest = onlyMembers(schema, (name) => !(name in membersOf(base[1])))
  const allOf = [{ $ref: `#/components/schemas/${base[0]}` }, ...(sizeOf(rest) > 0 ? [rest] : [])]
  return { ...(schema['description'] !== undefined && { description: schema['description'] }), allOf }
}

const sizeOf = (schema: Json): number => Object.keys(membersOf(schema)).length

function onlyMembers({ properties = {}, required = [] }: Json, isMember: (name: string) => boolean): Json {
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties as Json).filter(([name]) => isMember(name))),
    required: (required as readonly string[]).filter(isMember),
  }
}

/** The properties of an object, each with whether it is required. */
const membersOf = ({ properties = {}, required = [] }: Json): Json =>
  Object.fromEntries(
    Object.entries(properties as Json).map(([name, one]) => [name, [one, (required as string[]).includes(name)]]),
  )

/** Keywords that say nothing to a TypeScript type. */
const UNTYPED: ReadonlySet<string> = new Set([
  'default',
  'discriminator',
  'examples',
  'format',
  'maxItems',
  'maxLength',
  'maximum',
  'minItems',
  'minLength',
  'minimum',
  'pattern',
  'title',
  'uniqueItems',
])

/** The schema with what its type needs. Known texts are listed; numbers stay open, because a newer service may send new ones. */
function typed(schema: unknown): Json {
  if (Array.isArray(schema)) return schema.map(typed) as unknown as Json
  if (typeof schema !== 'object' || schema === null) return schema as Json
  const isNumber = 'type' in schema && [schema.type].flat().includes('integer')
  const kept = Object.entries(schema).filter(
    ([key, value]) =>
      !UNTYPED.has(key) &&
      !(key === 'x-extensible-enum' && isNumber) &&
      // An index signature would hide misspelt names.
      !(key === 'additionalProperties' && value === true),
  )
  return Object.fromEntries(
    kept.map(([key, value]) => [
      key === 'x-extensible-enum' ? 'enum' : key,
      key === 'properties'
        ? Object.fromEntries(Object.entries(value as Json).map(([name, member]) => [name, typed(member)]))
        : typed(value),
    ]),
  )
}
