import {
  eventually,
  startTcpProxy,
  startTokenIssuer,
  type TcpProxy,
  type TestBroker,
  type TestRedis,
  type TokenIssuer,
  testBroker,
  testRedis,
} from '@switchhook/testkit'
import { type ApiUnderTest, startApiUnderTest } from '../../testing/api-under-test.ts'

const PATH = '/api/v1/webhooks/subscriptions'
const JSON_BODY = { url: 'https://client.example/calls', eventTypes: ['call.status'] }

let redis: TestRedis
let broker: TestBroker
let wire: TcpProxy
let idp: TokenIssuer
let other: TokenIssuer
const started: ApiUnderTest[] = []

beforeAll(async () => {
  ;[redis, broker] = await Promise.all([testRedis(), testBroker()])
  ;[idp, other] = await Promise.all([startTokenIssuer(), startTokenIssuer()])
  wire = await startTcpProxy(redis.redisUrl)
})
afterEach(async () => {
  for (const api of started.splice(0)) await api.close()
  await redis.flush()
})
afterAll(async () => {
  await Promise.all([redis.close(), broker.close(), idp.close(), other.close(), wire.close()])
})

async function anApi(env: Record<string, string> = {}): Promise<ApiUnderTest> {
  const issuers = [idp, other].map(({ issuer, audience, jwksUri }) => ({ issuer, audience, jwksUri, tenant: 'acme' }))
  const api = await startApiUnderTest({
    REDIS_URL: wire.url,
    AMQP_URL: broker.amqpUrl,
    AUTH_ISSUERS: JSON.stringify(issuers),
    RATE_LIMIT: '3/1m',
    ...env,
  })
  started.push(api)
  return api
}

const bearer = (token: string, more: Record<string, string> = {}) => ({
  headers: { authorization: `Bearer ${token}`, ...more },
})
const asClient = (azp: string, of = idp) => bearer(of.token({ azp }))

const statuses = async (count: number, ask: () => Promise<{ status: number }>): Promise<number[]> => {
  const all: number[] = []
  for (let n = 0; n < count; n++) all.push((await ask()).status)
  return all
}

const SPENT = [200, 200, 200, 429]

test('every response has the rate-limit headers, errors included', async () => {
  const api = await anApi()
  const first = await api.call('GET', PATH, asClient('crm'))
  expect(first.status).toBe(200)
  expect(first.headers.get('ratelimit-policy')).toBe('"client";q=3;w=60')
  expect(first.headers.get('ratelimit')).toMatch(/^"client";r=2;t=(60|5\d)$/)
  const missing = await api.call('GET', `${PATH}/b6e0b5a2-2d3c-4d9d-8d34-0f0f7d0f5a11`, asClient('crm'))
  expect(missing.status).toBe(404)
  expect(missing.headers.get('ratelimit')).toMatch(/^"client";r=1;t=/)
  const faulty = await api.call('POST', PATH, { ...asClient('crm'), json: {} })
  expect(faulty.status).toBe(400)
  expect(faulty.headers.get('ratelimit')).toMatch(/^"client";r=0;t=/)
})

test('clients that a tenant invents have one count together; another tenant is not affected', async () => {
  const issuers = [idp, other].map(({ issuer, audience, jwksUri }, at) => ({
    issuer,
    audience,
    jwksUri,
    tenant: `tenant-${at}`,
  }))
  const api = await anApi({ RATE_LIMIT_PER_TENANT: '5/1m', AUTH_ISSUERS: JSON.stringify(issuers) })
  const invented = Array.from({ length: 8 }, (_, at) => asClient(`invented-${at}`))
  const answers = []
  for (const client of invented) answers.push(await api.call('GET', PATH, client))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429, 429])
  expect(answers.at(-1)?.headers.get('ratelimit')).toMatch(/^"tenant";r=0;t=/)
  expect((await api.call('GET', PATH, asClient('crm', other))).status).toBe(200)
})

test('beyond the limit of a tenant, the clients that it invents cost Redis no count; those of another tenant are counted', async () => {
  const issuers = [idp, other].map((each, at) => ({ ...each, tenant: `tenant-${at}` }))
  const AUTH_ISSUERS = JSON.stringify(
    issuers.map(({ issuer, audience, jwksUri, tenant }) => ({ issuer, audience, jwksUri, tenant })),
  )
  const api = await anApi({ RATE_LIMIT_PER_TENANT: '5/1m', AUTH_ISSUERS })
  let counted = 0
  wire.alter((chunk, direction) => {
    if (direction === 'toServer') counted += chunk.toString('latin1').split(':requests').length - 1
    return chunk
  })
  const countedBy = async (of: TokenIssuer): Promise<number> => {
    const before = counted
    for (let at = 0; at < 4; at++) await api.call('GET', '/api/v1/me', asClient(`invented-${before}-${at}`, of))
    return counted - before
  }
  try {
    expect(await countedBy(idp)).toBe(4 + 4)
    await countedBy(idp)
    expect(await countedBy(idp)).toBe(0)
    expect(await countedBy(other)).toBe(4 + 4)
  } finally {
    wire.alter((chunk) => chunk)
  }
})

test('a request above the limit is answered 429 with Retry-After, and has no effect', async () => {
  const api = await anApi()
  expect(await statuses(4, () => api.call('GET', PATH, asClient('crm')))).toEqual(SPENT)
  const { status, headers, body } = await api.call('POST', PATH, { ...asClient('crm'), json: JSON_BODY })
  expect(status).toBe(429)
  expect(body).toMatchObject({ code: 'rate-limited' })
  expect(headers.get('retry-after')).toMatch(/^(60|5\d)$/)
  expect(headers.get('ratelimit')).toMatch(/^"client";r=0;t=/)
  const requests = api.log.filter(({ message }) => message === 'request')
  expect(requests.at(-1)?.fields).toMatchObject({ status: 429, clientId: 'crm', tenant: 'acme' })
  expect((await api.call('GET', PATH, asClient('somebody else'))).body).toEqual([])
})

test('a client has one count over all replicas, shared with no other client', async () => {
  const [one, two] = [await anApi(), await anApi()]
  expect(await statuses(2, () => one.call('GET', PATH, asClient('crm')))).toEqual([200, 200])
  expect(await statuses(2, () => two.call('GET', PATH, asClient('crm')))).toEqual([200, 429])
  expect((await one.call('GET', PATH, asClient('crm'))).status).toBe(429)
  expect((await one.call('GET', PATH, asClient('erp'))).status).toBe(200)
  expect((await one.call('GET', PATH, asClient('crm', other))).status).toBe(200)
})

test('a repeated request with an Idempotency-Key counts, and its replay has the current count', async () => {
  const api = await anApi()
  const request = { ...bearer(idp.token({ azp: 'crm' }), { 'idempotency-key': 'once' }), json: JSON_BODY }
  const rest: (string | null)[] = []
  for (let n = 0; n < 3; n++) rest.push((await api.call('POST', PATH, request)).headers.get('ratelimit'))
  expect(rest.map((header) => /r=(\d)/.exec(header ?? '')?.[1])).toEqual(['2', '1', '0'])
  expect((await api.call('POST', PATH, request)).status).toBe(429)
})

test.each<[string, (api: ApiUnderTest) => Promise<{ status: number; headers: Headers }>]>([
  ['without a token', (api) => api.call('GET', PATH)],
  ['with a token', (api) => api.call('GET', PATH, asClient('crm'))],
])('trusted networks have no limit, %s', async (_name, ask) => {
  const api = await anApi({ DEPLOYMENT: 'on-premise', TRUSTED_NETWORKS: '127.0.0.0/8' })
  expect(await statuses(6, () => ask(api))).toEqual(Array(6).fill(200))
  expect((await ask(api)).headers.get('ratelimit')).toBeNull()
})

test('with RATE_LIMIT=off there is no limit and no rate-limit header', async () => {
  const api = await anApi({ RATE_LIMIT: 'off' })
  const bad = bearer(idp.token({}, { expiresInS: -60 }))
  expect(await statuses(6, () => api.call('GET', PATH, asClient('crm')))).toEqual(Array(6).fill(200))
  expect(await statuses(20, () => api.call('GET', PATH, bad))).toEqual(Array(20).fill(401))
  expect((await api.call('GET', PATH, asClient('crm'))).headers.get('ratelimit')).toBeNull()
})

test('the documents need no token and have no limit', async () => {
  const api = await anApi()
  expect(await statuses(6, () => api.call('GET', '/api/v1/openapi.json'))).toEqual(Array(6).fill(200))
})

test('a client that repeats a bad token is answered 429, other clients of its address are accepted', async () => {
  const api = await anApi()
  const bad = bearer(idp.token({}, { expiresInS: -60 }))
  expect(await statuses(101, () => api.call('GET', PATH, bad))).toEqual([...Array(100).fill(401), 429])
  const { headers, body } = await api.call('GET', PATH, bad)
  expect(body).toMatchObject({ code: 'rate-limited' })
  expect(headers.get('retry-after')).toMatch(/^(\d|10)$/)
  expect(headers.get('ratelimit')).toBeNull()
  expect((await api.call('GET', PATH, asClient('neighbour'))).status).toBe(200)
})

test('the expensive requests of a client run one after the other, only too many are refused, and others do not wait', async () => {
  const api = await anApi({ RATE_LIMIT: 'off' })
  const [list, ofOther] = [() => api.call('GET', PATH, asClient('crm')), api.call('GET', PATH, asClient('erp'))]
  expect((await ofOther).status).toBe(200)
  wire.freeze()
  // One that runs, and 50 that wait.
  const all = Array.from({ length: 52 }, list)
  const refused = await Promise.race(all)
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate-limited' } })
  expect(refused.headers.get('retry-after')).toBe('1')
  expect((await api.call('GET', '/api/v1/me', asClient('crm'))).status).toBe(200)
  const other = api.call('GET', PATH, asClient('erp'))
  wire.thaw()
  expect((await other).status).toBe(200)
  const answered = (await Promise.all(all)).map(({ status }) => status)
  expect(answered.toSorted((a, b) => a - b)).toEqual([...Array(51).fill(200), 429])
})

test('without Redis each process limits on its own, and requests are answered 503 as usual', async () => {
  const api = await anApi()
  wire.refuse()
  await eventually(() => expect(api.isReady()).toBe(false))
  expect(await statuses(4, () => api.call('GET', PATH, asClient('crm')))).toEqual([503, 503, 503, 429])
  wire.accept()
  await eventually(() => expect(api.isReady()).toBe(true), { timeoutMs: 30_000 })
  expect((await api.call('GET', PATH, asClient('crm'))).status).toBe(200)
})
