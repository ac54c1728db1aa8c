export type Json = Readonly<Record<string, unknown>>

interface Content {
  readonly schema: { readonly $ref?: string; readonly type?: string; readonly items?: { readonly $ref?: string } }
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly security?: readonly { readonly bearer?: readonly string[] }[]
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly description?: string
    readonly schema: Json
  }[]
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>
}

/** The parts of docs/openapi.json that the client is generated from. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Json>> }
}

/** The method of the client for each operation. */
const METHODS: Readonly<Record<string, string>> = {
  createSubscription: 'subscriptions.create',
  listSubscriptions: 'subscriptions.list',
  readSubscription: 'subscriptions.read',
  changeSubscription: 'subscriptions.change',
  deleteSubscription: 'subscriptions.delete',
  rotateSubscriptionSecret: 'subscriptions.rotateSecret',
  previewFilter: 'filters.preview',
  testSubscription: 'subscriptions.test',
  checkReceiver: 'subscriptions.check',
  receiveDeliveries: 'subscriptions.receive',
  reportOutcomes: 'subscriptions.report',
  listDeliveries: 'subscriptions.deliveries',
  listRecoveries: 'subscriptions.recoveries',
  recover: 'subscriptions.recover',
  previewRecovery: 'subscriptions.previewRecovery',
  backfill: 'subscriptions.backfill',
  previewBackfill: 'subscriptions.previewBackfill',
  readSummary: 'subscriptions.summary',
  listTenantDeliveries: 'deliveries.list',
  readDelivery: 'deliveries.read',
  redeliver: 'deliveries.redeliver',
  listParkedCauses: 'deliveries.parked',
  readStatistics: 'deliveries.statistics',
  readPolicy: 'deliveries.policy',
  listEvents: 'events.list',
  explainEvent: 'events.explain',
  deliverEvent: 'events.deliver',
  streamEvents: 'events.stream',
  listEventTypes: 'events.types',
  listAllRecoveries: 'recoveries.list',
  readRecovery: 'recoveries.read',
  cancelRecovery: 'recoveries.cancel',
  dial: 'calls.dial',
  answer: 'calls.answer',
  hangup: 'calls.hangup',
  hold: 'calls.hold',
  resume: 'calls.resume',
  transfer: 'calls.transfer',
  listCalls: 'calls.list',
  readCall: 'calls.read',
  listAgents: 'agents.list',
  readAgentState: 'agents.state',
  readCallState: 'agents.callState',
  setPresence: 'agents.setPresence',
  listAuditEntries: 'audit.list',
  readMe: 'me.read',
  readSignIn: 'me.signIn',
  simulateCall: 'simulator.call',
  simulateRemote: 'simulator.remote',
  simulateDevice: 'simulator.device',
  readDocument: 'documents.openapi',
  readEventsDocument: 'documents.asyncapi',
}

/** The name of the schema that describes the query parameters of an operation. */
export const queryNameOf = (operationId: string): string =>
  `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Query`

/** The table of operations. @throws if the document has an operation without a method */
export function describeOperations({ paths, components: { schemas } }: ApiDocument): string {
  const lines = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([verb, operation]) => linesOf(path, verb, operation, schemas)),
  )
  const byGroup = Map.groupBy(lines, ([group]) => group)
  const groups = [...new Set(Object.values(METHODS).map((name) => name.split('.')[0] ?? ''))]
  const table = groups.flatMap((group) => [
    `  ${group}: {`,
    ...(byGroup.get(group) ?? []).flatMap(([, ...own]) => own.map((line) => `    ${line}`)),
    '  },',
  ])
  return `import type { CallOptions, Pages } from '../options.ts'
import type { StreamMessage, StreamOptions } from '../stream.ts'
import type { Schemas } from './schemas.ts'

/** A request line and its flags, with the type of the method that it describes. */
type Line<Method> = string & { readonly method?: Method }

/**
 * Each operation as its request line, with \`{}\` for an id, and its flags. \`body\`, \`query\`: takes one. \`key\`: takes an \`Idempotency-Key\`.
 * \`page\`: answers a page; \`array\`: answers an array, and the header \`Next-Cursor\` has the cursor of the next page. \`stream\`: answers
 * server-sent events. \`nothing\`: answers without a body.
 */
export const OPERATIONS = {
${table.join('\n')}
}

type Table = typeof OPERATIONS

/** The operations of the API, by resource. */
export type Operations = {
  readonly [Group in keyof Table]: {
    readonly [Name in keyof Table[Group]]: Table[Group][Name] extends Line<infer Method> ? Method : never
  }
}
`
}

/** The group of an operation, and its lines in the table. */
function linesOf(
  path: string,
  verb: string,
  operation: Operation,
  schemas: ApiDocument['components']['schemas'],
): readonly [group: string, ...lines: string[]] {
  const { operationId, summary, parameters = [], requestBody, responses, security = [] } = operation
  const [group, method] = METHODS[operationId]?.split('.') ?? []
  if (group === undefined || method === undefined) throw new Error(`name the method of ${operationId} in METHODS`)
  const has = (place: string, name?: string): boolean =>
    parameters.some((each) => each.in === place && (name === undefined || each.name === name))
  const answers = Object.entries(responses).flatMap(([status, { content = {} }]) =>
    status.startsWith('2') ? [Object.values(content)[0]?.schema] : [],
  )
  const isStream = 'text/event-stream' in (responses['200']?.content ?? {})
  const members = (schemas[nameIn(answers[0]?.$ref)]?.['properties'] ?? {}) as Json
  const isArray = has('query', 'cursor') && answers[0]?.type === 'array'
  const isPage = has('query', 'cursor') && 'items' in members && 'nextCursor' in members
  const flags = [
    ...(requestBody ? ['body'] : has('query') ? ['query'] : []),
    ...(has('header', 'Idempotency-Key') ? ['key'] : []),
    ...(isArray ? ['array'] : isPage ? ['page'] : isStream ? ['stream'] : answers[0] === undefined ? ['nothing'] : []),
  ]
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `${name}: string`)
  const body = requestBody && typeOf(Object.values(requestBody.content)[0]?.schema)
  const query = `Schemas['${queryNameOf(operationId)}']`
  const argumentsOf = (bodyType: string | undefined, options = 'CallOptions'): string => {
    const optional = requestBody?.required === true ? '' : '?'
    const given = bodyType === undefined ? (has('query') ? [`query?: ${query}`] : []) : [`body${optional}: ${bodyType}`]
    return `(${[...inPath, ...given, `options?: ${options}`].join(', ')})`
  }
  const role = security.flatMap(({ bearer = [] }) => bearer)[0]
  const note = `/** ${summary}.${role === undefined ? ' Needs no token.' : ` Needs the role \`${role}\`.`} */`
  const [first] = answers.map(typeOf)
  const page = isArray ? `{ items: ${first}; nextCursor: string | null }` : first
  const type = isStream
    ? `${argumentsOf(body, 'StreamOptions')} => AsyncIterable<StreamMessage>`
    : isPage || isArray
      ? `${argumentsOf(body)} => Pages<${page}>`
      : `${argumentsOf(body)} => Promise<${first}>`
  const line = [verb.toUpperCase(), path.replaceAll(/\{\w+\}/g, '{}'), ...flags].join(' ')
  return [group, note, `${method}: '${line}' as Line<${type}>,`]
}

const nameIn = (ref = ''): string => ref.replace('#/components/schemas/', '')

function typeOf(schema: Content['schema'] | undefined): string {
  if (schema === undefined) return 'void'
  if (schema.$ref !== undefined) return `Schemas['${nameIn(schema.$ref)}']`
  if (schema.items !== undefined) return `${typeOf(schema.items)}[]`
  return 'Record<string, unknown>'
}
