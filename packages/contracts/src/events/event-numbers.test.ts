import { EVENT_TYPES } from './event.ts'
import { EVENT_CATALOGUE } from './event-catalogue.ts'

type Schema = Readonly<Record<string, unknown>>

interface Found {
  readonly path: string
  readonly schema: Schema
}

/** Every schema within a schema, by the path of the value that it describes. */
function* schemasIn(schema: unknown, path: string): Generator<Found> {
  if (typeof schema !== 'object' || schema === null) return
  const own = schema as Schema
  yield { path, schema: own }
  for (const keyword of ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']) {
    for (const [name, member] of Object.entries((own[keyword] ?? {}) as Schema)) {
      yield* schemasIn(member, `${path}/${name}`)
    }
  }
  for (const keyword of ['items', 'additionalProperties', 'contains', 'propertyNames', 'not', 'if', 'then', 'else']) {
    yield* schemasIn(own[keyword], path)
  }
  for (const keyword of ['oneOf', 'anyOf', 'allOf', 'prefixItems']) {
    for (const member of (own[keyword] ?? []) as readonly unknown[]) yield* schemasIn(member, path)
  }
}

const allSchemas = (): Found[] =>
  EVENT_TYPES.flatMap((eventType) => [...schemasIn(EVENT_CATALOGUE[eventType].schema, eventType)])

/** Text without a list of possible values. A new text field of an event belongs here, or it is an enum and has numbers. */
const FREE_TEXT = [
  'call.status/agentUri',
  'call.status/remoteParty/uri',
  'call.status/remoteParty/number',
  'call.status/remoteParty/name',
  'call.status/cli',
  'call.status/device',
  'call.status/correlationId',
  'call.status/transfer/target',
  'call.status/consultation/target',
  'agent.status/agentUri',
  'agent.status/message',
  'agent.status/location',
  'webhook.endpoint.failing/url',
  'webhook.endpoint.recovered/url',
  'webhook.delivery.parked/url',
  // Event types stay names: the specification gives them as names.
  'webhook.delivery.parked/eventType',
]

const isText = ({ type }: Schema): boolean => [type].flat().includes('string')

test('enum values in the data of every event type are numbers, never text', () => {
  const textual = allSchemas().filter(({ schema }) =>
    ['enum', 'const'].some((keyword) => [schema[keyword]].flat().some((value) => typeof value === 'string')),
  )
  expect(textual.map(({ path }) => path)).toEqual([])
})

test('every string in the data of an event is an id, a time or free text, never a value of a fixed list', () => {
  const texts = allSchemas().filter(({ schema }) => isText(schema))
  const others = texts.filter(({ schema }) => schema['format'] !== 'uuid' && schema['format'] !== 'date-time')
  expect(new Set(others.map(({ path }) => path))).toEqual(new Set(FREE_TEXT))
})
