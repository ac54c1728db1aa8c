import { randomBytes } from 'node:crypto'
import { eventQueues, openBroker, serviceTopology } from '@switchhook/messaging'
import { createContextOnly, createMetrics, loadConfig, Shutdown } from '@switchhook/runtime'
import { type Surroundings, startSurroundings, takeEvents } from '@switchhook/servicekit'
import { brokerAlarm, eventually, forgetful, silentLog, startTcpProxy, type TcpProxy } from '@switchhook/testkit'
import { startApi } from './api.ts'
import { apiFields, apiRules } from './config.ts'
import { type ApiUnderTest, startApiUnderTest } from './testing/api-under-test.ts'

const EVENT_SHARDS = 3
const PATH = '/api/v1/webhooks/subscriptions'
const create = { url: 'https://client.example', eventTypes: ['call.status'] }

let around: Surroundings<'acme'>
let toRedis: TcpProxy
let toBroker: TcpProxy
let api: ApiUnderTest
let headers: { authorization: string }

beforeAll(async () => {
  around = await startSurroundings('acme')
  toRedis = await startTcpProxy(around.redis.redisUrl)
  toBroker = await startTcpProxy(around.broker.amqpUrl)
  const urls = { REDIS_URL: toRedis.url, AMQP_URL: toBroker.url }
  api = await startApiUnderTest({ ...around.env, ...urls, EVENT_SHARDS: String(EVENT_SHARDS) })
  headers = around.bearer('acme')
})

afterAll(async () => {
  await api.close()
  await Promise.all([toRedis.close(), toBroker.close()])
  await around.close()
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
  'while Redis is unavailable, %s answers 503 quickly with Retry-After',
  async (_name, method, path, json) => {
    toRedis.refuse()
    await eventually(() => expect(api.isReady()).toBe(false))
    // It would otherwise wait for the Redis that comes back after it.
    const answer = await api.call(method, path, { headers, ...(json && { json }) })
    expect(answer).toMatchObject({ status: 503, body: { code: 'service-unavailable' } })
    expect(answer.headers.get('retry-after')).toBe('5')
    toRedis.accept()
    await recovered()
  },
  60_000,
)

test('an invalid request is answered 400 even while Redis is unavailable', async () => {
  toRedis.refuse()
  expect((await api.call('POST', PATH, { headers, json: { url: 'x' } })).status).toBe(400)
  expect((await api.call('GET', PATH)).status).toBe(401)
  toRedis.accept()
  await recovered()
})

test('the gauges of the outbox and the timers are shown, and left out while Redis is unavailable', async () => {
  const shown = async (): Promise<string[]> =>
    (await api.metrics.text())
      .split('\n')
      .filter((line) => /^switchhook_(outbox|timers_overdue)/.test(line))
      .map((line) => line.replace(/\{.*/, ''))
  const all = ['switchhook_outbox_events', 'switchhook_outbox_oldest_age_seconds', 'switchhook_timers_overdue_seconds']
  expect(await shown()).toEqual(all)
  toRedis.refuse()
  await eventually(() => expect(api.isReady()).toBe(false))
  expect(await shown()).toEqual([])
  toRedis.accept()
  await recovered()
  expect(await shown()).toEqual(all)
})

test('an api that starts with a full Redis drains its outbox, disables and deletes subscriptions, and rejects writes that need memory', async () => {
  const { body } = await api.call('POST', PATH, { headers, json: create })
  const { id } = body as { id: string }
  toBroker.refuse()
  await eventually(() => expect(api.isReady()).toBe(false))
  const json = { agentUri: 'sip:alice@acme.example', destination: '+15550101' }
  expect((await api.call('POST', '/api/v1/voice/calls/dial', { headers, json })).status).toBe(202)
  await around.redis.limitMemory(1)
  try {
    const second = await startApiUnderTest(around.env)
    const shown = async (name: string): Promise<string | undefined> =>
      (await second.metrics.text()).split('\n').find((line) => line.startsWith(`${name}{`))
    await eventually(async () => expect(await shown('switchhook_outbox_events')).toMatch(/ 0$/), { timeoutMs: 30_000 })
    expect(await shown('switchhook_redis_memory_max_bytes')).toMatch(/ 1$/)
    expect(await second.call('POST', PATH, { headers, json: create })).toMatchObject({ status: 503 })
    const disabled = await second.call('PATCH', `${PATH}/${id}`, { headers, json: { enabled: false } })
    expect(disabled).toMatchObject({ status: 200, body: { enabled: false } })
    expect((await second.call('DELETE', `${PATH}/${id}`, { headers })).status).toBe(204)
    await second.close()
  } finally {
    await around.redis.limitMemory(0)
  }
  toBroker.accept()
  await recovered()
})

test('while the broker is unavailable, the age of the oldest event in the outbox grows', async () => {
  toBroker.refuse()
  await eventually(() => expect(api.isReady()).toBe(false))
  const json = { agentUri: 'sip:bob@acme.example', destination: '+15550101' }
  expect((await api.call('POST', '/api/v1/voice/calls/dial', { headers, json })).status).toBe(202)
  const sample = async (name: string): Promise<number> =>
    Number(
      (await api.metrics.text())
        .split('\n')
        .find((line) => line.startsWith(`${name}{`))
        ?.split(' ')
        .at(-1),
    )
  await eventually(async () => expect(await sample('switchhook_outbox_events')).toBeGreaterThan(0))
  await eventually(async () => expect(await sample('switchhook_outbox_oldest_age_seconds')).toBeGreaterThan(0.5))
  toBroker.accept()
  await recovered()
  await eventually(async () => expect(await sample('switchhook_outbox_events')).toBe(0), { timeoutMs: 30_000 })
})

test('a subscription that was answered 201 exists after an outage of Redis', async () => {
  const { body } = await api.call('POST', PATH, { headers, json: create })
  toRedis.cut()
  await recovered()
  const { secret: _, ...created } = body as { id: string; secret: string }
  const read = async () => (await api.call('GET', `${PATH}/${created.id}`, { headers })).body
  await eventually(async () => expect(await read()).toEqual(created))
})

test('while the broker is unavailable, requests are accepted, and events wait in the outbox', async () => {
  toBroker.refuse()
  await eventually(() => expect(api.isReady()).toBe(false))
  expect(api.takesRequests()).toBe(true)
  expect((await api.call('POST', PATH, { headers, json: create })).status).toBe(201)
  const json = { agentUri: 'sip:alice@acme.example', destination: '+15550101' }
  expect((await api.call('POST', '/api/v1/voice/calls/dial', { headers, json })).status).toBe(202)
  toBroker.accept()
  await recovered()
  await eventually(
    async () => {
      const queues = await around.broker.management.queues()
      const waiting = queues.filter(({ name }) => name.startsWith('fanout.events'))
      expect(waiting.reduce((sum, { messages }) => sum + messages, 0)).toBeGreaterThan(0)
    },
    { timeoutMs: 30_000, intervalMs: 200 },
  )
})

test('an api that starts without the broker accepts commands, and relays their events later', async () => {
  const absent = await startTcpProxy(around.broker.amqpUrl)
  absent.refuse()
  const starting = await startApiUnderTest({ ...around.env, AMQP_URL: absent.url })
  expect([starting.takesRequests(), starting.isReady()]).toEqual([true, false])
  const json = { agentUri: 'sip:bob@acme.example', destination: '+15550101' }
  expect((await starting.call('POST', '/api/v1/voice/calls/dial', { headers, json })).status).toBe(202)
  absent.accept()
  await eventually(() => expect(starting.isReady()).toBe(true), { timeoutMs: 30_000 })
  await starting.close()
  await absent.close()
})

test('in production the api refuses a Redis without persistence', async () => {
  const toForgetful = await startTcpProxy(around.redis.redisUrl)
  toForgetful.alter(forgetful)
  const SECRET_KEYS = `one:${randomBytes(32).toString('base64')}`
  const env = {
    ...around.env,
    REDIS_URL: toForgetful.url,
    NODE_ENV: 'production',
    PLATFORM: 'simulator',
    API_PORT: '0',
    SECRET_KEYS,
    AUTH_ISSUERS_OVER_HTTP: 'loopback',
  }
  const config = loadConfig(apiFields, env, apiRules)
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const shutdown = new Shutdown(log, 5_000)
  const starting = startApi({
    name: 'api',
    config,
    log,
    shutdown,
    metrics: createMetrics('api'),
    tracing: createContextOnly(),
  })
  await expect(starting).rejects.toThrow('this Redis would lose data: it must keep an append-only file')
  await shutdown.run()
  await toForgetful.close()
})

const alarm = brokerAlarm()
/** A test must not disturb a broker that AMQP_URL names. */
const testWithAlarm = alarm === undefined ? test.skip : test
afterAll(() => alarm?.clear())

testWithAlarm(
  'while the broker that this run has started has an alarm, requests are accepted and their events wait in the outbox',
  async () => {
    let callId: unknown
    try {
      await alarm?.raise('memory')
      expect((await api.call('POST', PATH, { headers, json: create })).status).toBe(201)
      const json = { agentUri: 'sip:alice@acme.example', destination: '+15550102' }
      const dialled = await api.call('POST', '/api/v1/voice/calls/dial', { headers, json })
      expect(dialled.status).toBe(202)
      callId = (dialled.body as { callId: string }).callId
      // Publishing the first event shows the alarm; from then on the broker is reported as unavailable.
      await eventually(() => expect(api.isReady()).toBe(false))
      expect((await api.call('GET', PATH, { headers })).status).toBe(200)
    } finally {
      await alarm?.clear()
    }
    await recovered()
    const declared = (await around.broker.management.queues()).map(({ name }) => name)
    expect(declared).toEqual(expect.arrayContaining([...eventQueues(EVENT_SHARDS)]))
    expect(declared).not.toContain(eventQueues(EVENT_SHARDS + 1).at(-1))
    const published: unknown[] = []
    const fanout = await openBroker({
      url: around.broker.amqpUrl,
      topology: serviceTopology([], { eventShards: EVENT_SHARDS }),
      log: silentLog,
      name: 'test',
    })
    await takeEvents(fanout, ({ data }) => void published.push(data['callId']), EVENT_SHARDS)
    await eventually(() => expect(published).toContain(callId), { timeoutMs: 30_000 })
    await fanout.close()
  },
)
