import { loadConfig, Shutdown } from '@switchhook/runtime'
import {
  eventually,
  forgetful,
  startTcpProxy,
  startTokenIssuer,
  type TcpProxy,
  type TestBroker,
  type TestRedis,
  type TokenIssuer,
  testBroker,
  testRedis,
} from '@switchhook/testkit'
import { apiFields, apiRules } from './config.ts'
import { startApi } from './start-api.ts'
import { type ApiUnderTest, startApiUnderTest } from './testing/api-under-test.ts'

const PATH = '/api/v1/webhooks/subscriptions'
const create = { url: 'https://client.example', eventTypes: ['call.status'] }

let redis: TestRedis
let broker: TestBroker
let toRedis: TcpProxy
let toBroker: TcpProxy
let idp: TokenIssuer
let api: ApiUnderTest
let headers: { authorization: string }

beforeAll(async () => {
  ;[redis, broker, idp] = await Promise.all([testRedis(), testBroker(), startTokenIssuer()])
  toRedis = await startTcpProxy(redis.redisUrl)
  toBroker = await startTcpProxy(broker.amqpUrl)
  const { issuer, audience, jwksUri } = idp
  api = await startApiUnderTest({
    REDIS_URL: toRedis.url,
    AMQP_URL: toBroker.url,
    AUTH_ISSUERS: JSON.stringify([{ issuer, audience, jwksUri, tenant: 'acme' }]),
  })
  headers = { authorization: `Bearer ${idp.token()}` }
})

afterAll(async () => {
  await api.close()
  await Promise.all([toRedis.close(), toBroker.close()])
  await Promise.all([redis.close(), broker.close(), idp.close()])
})

const recovered = (): Promise<void> => eventually(() => expect(api.isReady()).toBe(true), { timeoutMs: 30_000 })

test.each<[string, string, string, object | undefined]>([
  ['create', 'POST', PATH, create],
  ['list', 'GET', PATH, undefined],
  ['read', 'GET', `${PATH}/b6e0b5a2-2d3c-4d9d-8d34-0f0f7d0f5a11`, undefined],
  ['change', 'PATCH', `${PATH}/b6e0b5a2-2d3c-4d9d-8d34-0f0f7d0f5a11`, { enabled: false }],
  ['delete', 'DELETE', `${PATH}/b6e0b5a2-2d3c-4d9d-8d34-0f0f7d0f5a11`, undefined],
  ['dial', 'POST', '/api/v1/voice/calls/dial', { agentUri: 'sip:alice@acme.example', destination: '+15550100' }],
])(
  'while Redis is away, %s answers 503 soon and says when to try again',
  async (_name, method, path, json) => {
    toRedis.refuse()
    await eventually(() => expect(api.isReady()).toBe(false))
    const before = performance.now()
    const answer = await api.call(method, path, { headers, ...(json && { json }) })
    expect(answer).toMatchObject({ status: 503, body: { code: 'service-unavailable' } })
    expect(answer.headers.get('retry-after')).toBe('5')
    expect(performance.now() - before).toBeLessThan(5_000)
    toRedis.accept()
    await recovered()
  },
  60_000,
)

test('a faulty request is told so even while Redis is away', async () => {
  toRedis.refuse()
  expect((await api.call('POST', PATH, { headers, json: { url: 'x' } })).status).toBe(400)
  expect((await api.call('GET', PATH)).status).toBe(401)
  toRedis.accept()
  await recovered()
}, 60_000)

test('what was answered 201 is there after an outage of Redis', async () => {
  const { body } = await api.call('POST', PATH, { headers, json: create })
  toRedis.cut()
  await recovered()
  const { id } = body as { id: string }
  await eventually(async () => expect((await api.call('GET', `${PATH}/${id}`, { headers })).body).toEqual(body))
}, 60_000)

test('while the broker is away, what does not need it works, and events wait for it', async () => {
  toBroker.refuse()
  await eventually(() => expect(api.isReady()).toBe(false))
  expect((await api.call('POST', PATH, { headers, json: create })).status).toBe(201)
  const json = { agentUri: 'sip:alice@acme.example', destination: '+15550101' }
  expect((await api.call('POST', '/api/v1/voice/calls/dial', { headers, json })).status).toBe(202)
  toBroker.accept()
  await recovered()
  await eventually(
    async () => {
      const queues = await broker.management.queues()
      const waiting = queues.find(({ name }) => name === 'fanout.events')
      expect(waiting?.messages ?? 0).toBeGreaterThan(0)
    },
    { timeoutMs: 30_000, intervalMs: 200 },
  )
}, 90_000)

test('in production it refuses a Redis that keeps nothing on disk', async () => {
  const toForgetful = await startTcpProxy(redis.redisUrl)
  toForgetful.alter(forgetful)
  const env = { REDIS_URL: toForgetful.url, AMQP_URL: toBroker.url, NODE_ENV: 'production', API_PORT: '0' }
  const issuers = JSON.stringify([{ issuer: idp.issuer, audience: idp.audience, tenant: 'acme' }])
  const config = loadConfig(apiFields, { ...env, AUTH_ISSUERS: issuers }, apiRules)
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const shutdown = new Shutdown(log, 5_000)
  const starting = startApi({ config, log, shutdown })
  await expect(starting).rejects.toThrow('this Redis would lose data: it must keep an append-only file')
  await shutdown.run()
  await toForgetful.close()
})
