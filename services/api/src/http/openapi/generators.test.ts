import { describeApi } from '../../describe-api.ts'

/** What generators of clients in other languages need of the document. `make clients` runs the generators themselves. */

type Schema = Readonly<Record<string, unknown>>

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content & { readonly $ref?: string; readonly headers?: object }>>
  readonly callbacks?: Readonly<Record<string, Readonly<Record<string, { readonly post: Operation }>>>>
}

const document = describeApi() as unknown as {
  readonly info: Schema
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, Content>>
  }
}
const { components } = document
const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
const deliveries = operations.flatMap(({ callbacks = {} }) =>
  Object.values(callbacks).flatMap((callback) => Object.values(callback).map(({ post }) => post)),
)

/** A schema and every schema inside it, through references, each by where it is. */
function* schemasIn(schema: Schema, at: string, seen = new Set<string>()): Generator<readonly [string, Schema]> {
  const name = referredName(schema)
  if (name !== undefined) {
    if (seen.has(name)) return
    seen.add(name)
    return yield* schemasIn(components.schemas[name] ?? {}, name, seen)
  }
  yield [at, schema]
  for (const [key, one] of Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)) {
    yield* schemasIn(one, `${at}.${key}`, seen)
  }
  for (const key of ['items', 'additionalProperties']) {
    if (typeof schema[key] === 'object') yield* schemasIn(schema[key] as Schema, `${at}.${key}`, seen)
  }
  for (const key of ['oneOf', 'anyOf'] as const) {
    for (const one of (schema[key] ?? []) as Schema[]) yield* schemasIn(one, `${at}.${key}`, seen)
  }
}

const referredName = ({ $ref }: Schema): string | undefined =>
  typeof $ref === 'string' ? $ref.replace('#/components/schemas/', '') : undefined

const bodiesOf = ({ content = {} }: Content): Schema[] => Object.values(content).map(({ schema }) => schema)

const successesOf = ({ responses }: Operation) => Object.entries(responses).filter(([status]) => status.startsWith('2'))

const requests = operations.flatMap(({ operationId, requestBody = {} }) =>
  bodiesOf(requestBody).map((schema) => [operationId, schema] as const),
)
const { content: stream = {} } = document.paths['/api/v1/webhooks/stream']?.['get']?.responses['200'] ?? {}
const streamed = Object.values(stream).flatMap((one) =>
  Object.values((one as Schema)['x-messages'] as Record<string, Schema>),
)
const answers = [
  ...operations.flatMap((operation) =>
    successesOf(operation).flatMap(([, response]) =>
      bodiesOf(response).map((one) => [operation.operationId, one] as const),
    ),
  ),
  ...deliveries.flatMap(({ requestBody = {} }) => bodiesOf(requestBody).map((one) => ['delivery', one] as const)),
  ...Object.values(streamed).map((one) => ['stream', one] as const),
  ['problem', { $ref: '#/components/schemas/Problem' }] as const,
]
const inRequests = requests.flatMap(([at, schema]) => [...schemasIn(schema, at)])
const inAnswers = answers.flatMap(([at, schema]) => [...schemasIn(schema, at)])

const typesOf = ({ type }: Schema): unknown[] => [type].flat().filter((one) => one !== undefined && one !== 'null')

const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

test('no name of a schema is taken by what generators derive from another name', () => {
  const names = Object.keys(components.schemas)
  expect(names.filter((name) => name.startsWith('New'))).toEqual([])
  const derived = [
    // A type for the request and the answer of an operation.
    ...operations.flatMap(({ operationId }) =>
      ['', 'Request', 'Response', 'Params', 'Body'].map((end) => capitalised(operationId) + end),
    ),
    // A type for a property that is described in place.
    ...Object.entries(components.schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties as Record<string, Schema>).flatMap(([property, schema]) =>
        ['enum', 'properties', 'items'].some((key) => key in schema) ? [name + capitalised(property)] : [],
      ),
    ),
  ]
  const all = [...names, ...derived].map((name) => name.toLowerCase())
  expect(all.filter((name, at) => all.indexOf(name) !== at)).toEqual([])
})

test('every schema is reached from a path, except for the constants of numbers', () => {
  const reached = new Set([...inRequests, ...inAnswers].map(([at]) => at.split('.')[0]))
  const others = Object.entries(components.schemas).filter(([name]) => !reached.has(name))
  expect(others.map(([name, schema]) => [name, 'x-enum-varnames' in schema])).toEqual(
    others.map(([name]) => [name, true]),
  )
})

test('every known number of an answer has a name, in a component that generators make constants of', () => {
  const constants = Object.values(components.schemas).filter((schema) => 'x-enum-varnames' in schema)
  for (const { type, enum: values, 'x-enum-varnames': names } of constants as { [key: string]: unknown[] | string }[]) {
    expect([type, new Set(names).size]).toEqual(['integer', values?.length])
    for (const name of names ?? []) expect(name).toMatch(/^[A-Z]+(_[A-Z]+)+$/)
  }
  const all = constants.flatMap((schema) => schema['x-enum-varnames'] as string[])
  expect(new Set(all).size).toBe(all.length)
  const numbered = inAnswers.filter(
    ([, schema]) => typesOf(schema).includes('integer') && 'x-extensible-enum' in schema,
  )
  expect(numbered.length).toBeGreaterThan(15)
  for (const [at, { description, 'x-extensible-enum': known }] of numbered) {
    const [, name = ''] = /Constants: `(\w+)`/.exec(String(description)) ?? []
    expect([at, name, components.schemas[name]?.['enum']]).toEqual([at, name, known])
  }
})

test('an answer may have new fields and new values', () => {
  for (const [at, schema] of inAnswers) {
    const closed = 'const' in schema || ((schema['enum'] ?? []) as unknown[]).length > 1
    expect([at, closed]).toEqual([at, false])
    if ('properties' in schema) expect([at, schema['additionalProperties']]).toEqual([at, true])
  }
})

test('every operation has one form of success', () => {
  for (const operation of operations) {
    expect([operation.operationId, successesOf(operation).length]).toEqual([operation.operationId, 1])
  }
})

test('no value has one of several scalar types', () => {
  const scalar = ['string', 'integer', 'number', 'boolean']
  for (const [at, schema] of [...inRequests, ...inAnswers]) {
    expect([at, typesOf(schema).length <= 1]).toEqual([at, true])
    const branches = [...((schema['oneOf'] ?? []) as Schema[]), ...((schema['anyOf'] ?? []) as Schema[])]
    expect([at, branches.flatMap(typesOf).filter((type) => scalar.includes(type as string))]).toEqual([at, []])
    expect([at, 'type' in schema && branches.length > 0]).toEqual([at, false])
  }
})

test('no answer has one of several forms, because generators make one form of them with every field required', () => {
  for (const [at, schema] of inAnswers) {
    const forms = (schema['oneOf'] ?? schema['anyOf'] ?? schema['allOf']) as readonly Schema[] | undefined
    // Receivers read a delivery as an envelope first, and its `eventType` names its form.
    if (forms === undefined || 'discriminator' in schema) continue
    expect([at, forms]).toEqual([at, [{ $ref: expect.any(String) }, { type: 'null' }]])
  }
})

test('an integer that does not fit 32 bits says so', () => {
  const large = inAnswers.filter(([, { type, examples = [] }]) => {
    return type === 'integer' && (examples as number[]).some((example) => example > 2 ** 31 - 1)
  })
  expect(large.length).toBeGreaterThan(0)
  for (const [at, { format }] of large) expect([at, format]).toEqual([at, 'int64'])
})

test('no field of a request is required because of a default', () => {
  expect(inRequests.filter(([, schema]) => 'default' in schema)).toEqual([])
})

test('every optional list or map of a request can be null, because clients in Java send an empty one otherwise', () => {
  for (const [at, { properties = {}, required = [] }] of inRequests) {
    for (const [name, schema] of Object.entries(properties as Record<string, Schema>)) {
      const isContainer = typesOf(schema).includes('array') || 'additionalProperties' in schema
      if (!isContainer || (required as string[]).includes(name)) continue
      expect([`${at}.${name}`, schema['type']]).toEqual([`${at}.${name}`, expect.arrayContaining(['null'])])
    }
  }
})

test('every list says where its next page begins', () => {
  const lists = operations.filter(({ parameters = [] }) => parameters.some(({ name }) => name === 'cursor'))
  expect(lists.length).toBeGreaterThan(8)
  for (const operation of lists) {
    const response = successesOf(operation)[0]?.[1] ?? {}
    const [schema = {}] = bodiesOf(response)
    const { properties = {} } = components.schemas[referredName(schema) ?? ''] ?? {}
    const told = [...Object.keys(properties as object), ...Object.keys(response.headers ?? {})]
    expect([operation.operationId, told]).toEqual([
      operation.operationId,
      // The specification makes this list an array.
      expect.arrayContaining([operation.operationId === 'listSubscriptions' ? 'Next-Cursor' : 'nextCursor']),
    ])
  }
})

test('parameters are text, all errors have one schema, and the document has no licence without an address', () => {
  expect(document.info).not.toHaveProperty('license')
  for (const { content } of Object.values(components.responses)) {
    expect(content?.['application/problem+json']?.schema).toEqual({ $ref: '#/components/schemas/Problem' })
  }
  for (const { name, schema } of [...operations, ...deliveries].flatMap(({ parameters = [] }) => parameters)) {
    expect([name, typeof schema['type'], schema['const']]).toEqual([name, 'string', undefined])
  }
})
