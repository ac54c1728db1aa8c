import { isDeepStrictEqual } from 'node:util'
import {
  AgentReason,
  CallState,
  CommandNumber,
  DeviceStatus,
  Direction,
  EndedBy,
  EndReason,
  EVENT_TYPES,
  LegRole,
  OutcomeNumber,
  ParkedReasonNumber,
  PartyType,
  Status,
  TransferRole,
  TransferStatus,
} from '@switchhook/contracts'
import openapiTypescript, { astToString } from 'openapi-typescript'
import { type ApiDocument, describeOperations, type Json, queryNameOf } from './client-operations.ts'

/** The enums that are transmitted as numbers. */
const NUMBERS = {
  AgentReason,
  CallState,
  CommandNumber,
  DeviceStatus,
  Direction,
  EndReason,
  EndedBy,
  LegRole,
  OutcomeNumber,
  ParkedReasonNumber,
  PartyType,
  Status,
  TransferRole,
  TransferStatus,
}

const HEADER = '// Written by make docs from docs/openapi.json and packages/contracts.\n'

/** The generated sources of packages/client, by file name. */
export async function clientSources(document: ApiDocument): Promise<Readonly<Record<string, string>>> {
  return {
    'schemas.ts': `${HEADER}${await schemasText(document)}`,
    'operations.ts': `${HEADER}${describeOperations(document)}`,
    'numbers.ts': `${HEADER}${numbersText()}`,
  }
}

function numbersText(): string {
  const tables = Object.entries(NUMBERS).map(
    ([name, table]) => `export const ${name} = ${JSON.stringify(table, null, 2)} as const\n`,
  )
  const types = JSON.stringify(EVENT_TYPES, null, 2)
  return [
    ...tables,
    `/** The event types that this version of the client knows. */\nexport const EVENT_TYPES = ${types} as const\n`,
  ]
    .join('\n')
    .replaceAll('"', "'")
    .replaceAll(/'(\w+)':/g, '$1:')
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
  const extended = Object.entries(components.schemas).map(([name, schema]) => [name, extending(schema, components)])
  const schemas = Object.fromEntries([...extended, ...queries].map(([name, schema]) => [name, typed(schema)]))
  const types = astToString(
    await openapiTypescript(
      {
        openapi: '3.1.0',
        info: { title: '', version: '' },
        paths: {},
        components: { schemas: schemas as object as {} },
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
    .replaceAll(' (enum property replaced by openapi-typescript)', '')
  return `export interface Schemas {\n${flat}}\n`
}

/** A schema that has all properties of another one, as that one and the rest. */
function extending(schema: Json, { schemas }: ApiDocument['components']): Json {
  const own = membersOf(schema)
  const base = Object.entries(schemas).find(([, other]) => {
    const members = Object.entries(membersOf(other))
    return other !== schema && members.length >= 4 && members.every(([name, one]) => isDeepStrictEqual(own[name], one))
  })
  if (base === undefined) return schema
  const { properties, required, type, ...more } = schema
  const isNew = (name: string): boolean => !(name in membersOf(base[1]))
  const rest = {
    type,
    properties: Object.fromEntries(Object.entries(properties as Json).filter(([name]) => isNew(name))),
    required: (required as readonly string[]).filter(isNew),
  }
  return { ...more, allOf: [{ $ref: `#/components/schemas/${base[0]}` }, rest] }
}

/** The properties of an object, each with whether it is required. */
const membersOf = ({ properties = {}, required = [] }: Json): Json =>
  Object.fromEntries(
    Object.entries(properties as Json).map(([name, one]) => [name, [one, (required as string[]).includes(name)]]),
  )

/** Keywords that say nothing to a TypeScript type. */
const UNTYPED: ReadonlySet<string> = new Set([
  'default',
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

/** The schema with what its type needs. The numbers of an enum stay open, because a newer service may send new ones. */
function typed(schema: unknown): Json {
  if (Array.isArray(schema)) return schema.map(typed) as unknown as Json
  if (typeof schema !== 'object' || schema === null) return schema as Json
  const kept = Object.entries(schema).filter(
    ([key]) => !UNTYPED.has(key) && !(key === 'oneOf' && 'type' in schema && schema.type === 'integer'),
  )
  return Object.fromEntries(
    kept.map(([key, value]) => [
      key,
      key === 'properties'
        ? Object.fromEntries(Object.entries(value as Json).map(([name, member]) => [name, typed(member)]))
        : typed(value),
    ]),
  )
}
