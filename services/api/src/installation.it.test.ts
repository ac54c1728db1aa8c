import { randomUUID } from 'node:crypto'
import { uuidV5 } from '@switchhook/contracts'
import { openBroker, serviceTopology } from '@switchhook/messaging'
import { type Surroundings, startSurroundings, takeEvents } from '@switchhook/servicekit'
import { createInstallationStore, openRedis } from '@switchhook/store'
import { eventually, silentLog } from '@switchhook/testkit'
import { type ApiUnderTest, startApiUnderTest } from './testing/api-under-test.ts'

const PATH = '/api/v1/webhooks/subscriptions'
const DELIVERY = '/api/v1/webhooks/deliveries/b6e0b5a2-2d3c-4d9d-8d34-0f0f7d0f5a11'
const json = { url: 'https://client.example', eventTypes: ['call.status'] }

let around: Surroundings<'acme'>
let api: ApiUnderTest
let headers: { authorization: string }

beforeEach(async () => {
  around = await startSurroundings('acme')
  api = await startApiUnderTest(around.env)
  headers = around.bearer('acme')
})

afterEach(async () => {
  await api.close()
  await around.close()
})

test('while Redis lacks its data, no subscription is created or reported missing, no delivery is reported missing, and the api is not ready', async () => {
  const { body } = await api.call('POST', PATH, { headers, json })
  const one = `${PATH}/${(body as { id: string }).id}`
  expect(await api.call('GET', DELIVERY, { headers })).toMatchObject({ status: 404 })
  await around.redis.lose()
  const unavailable = { status: 503, body: { code: 'service-unavailable' } }
  expect(await api.call('POST', PATH, { headers, json })).toMatchObject(unavailable)
  expect(await api.call('GET', one, { headers })).toMatchObject(unavailable)
  expect(await api.call('GET', PATH, { headers })).toMatchObject(unavailable)
  expect(await api.call('DELETE', one, { headers })).toMatchObject(unavailable)
  expect(await api.call('PATCH', one, { headers, json: { enabled: false } })).toMatchObject(unavailable)
  for (const action of ['rotate-secret', 'test', 'recover']) {
    expect(await api.call('POST', `${one}/${action}`, { headers, json: {} })).toMatchObject(unavailable)
  }
  expect(await api.call('GET', `${one}/deliveries`, { headers })).toMatchObject(unavailable)
  expect(await api.call('GET', DELIVERY, { headers })).toMatchObject(unavailable)
  expect(api.isReady()).toBe(false)
  expect(api.log.filter(({ level, message }) => level === 'error' && message.includes('lost its data'))).toHaveLength(1)
  await around.redis.restore()
  await eventually(() => expect(api.isReady()).toBe(true))
  expect(await api.call('GET', one, { headers })).toMatchObject({ status: 200 })
})

test('while Redis lacks its data, no call, delivery, event or recovery is reported missing', async () => {
  const alice = { agentUri: 'sip:alice@acme.example' }
  const dial = { ...alice, destination: '+15550102' }
  const { body } = await api.call('POST', '/api/v1/voice/calls/dial', { headers, json: dial })
  const hangup = `/api/v1/voice/calls/${(body as { callId: string }).callId}/hangup`
  const unknown = uuidV5(randomUUID(), 'delivery')
  const all = [
    () => api.call('POST', hangup, { headers: { ...headers, 'Idempotency-Key': 'hangup' }, json: alice }),
    ...['deliveries', 'events', 'recoveries'].map(
      (kind) => () => api.call('GET', `/api/v1/webhooks/${kind}/${unknown}`, { headers }),
    ),
  ]
  await around.redis.lose()
  for (const call of all) expect(await call()).toMatchObject({ status: 503, body: { code: 'service-unavailable' } })
  await around.redis.restore()
  await eventually(() => expect(api.isReady()).toBe(true))
  expect(await Promise.all(all.map(async (call) => (await call()).status))).toEqual([202, 404, 404, 404])
})

test('while Redis lacks its data, no agent is shown as unused, and no list of calls is empty', async () => {
  const agentUri = 'sip:alice@acme.example'
  const dial = { agentUri, destination: '+15550102' }
  expect(await api.call('POST', '/api/v1/voice/calls/dial', { headers, json: dial })).toMatchObject({ status: 202 })
  const agent = `/api/v1/voice/agents/${encodeURIComponent(agentUri)}`
  const lists = ['/api/v1/voice/calls', '/api/v1/voice/calls?live=false', '/api/v1/voice/agents']
  const paths = [...lists, `${agent}/state`, `${agent}/call-state`]
  const readAll = () => Promise.all(paths.map((path) => api.call('GET', path, { headers })))
  const found = paths.map(() => ({ status: 200 }))
  expect(await readAll()).toMatchObject(found)
  await around.redis.lose()
  const unavailable = { status: 503, body: { code: 'service-unavailable' } }
  expect(await readAll()).toMatchObject(paths.map(() => unavailable))
  // Now the agent has a record, which has none of its calls.
  const presence = await api.call('POST', `${agent}/presence`, { headers, json: { statusCode: 66 } })
  expect(presence).toMatchObject({ status: 202 })
  expect(await readAll()).toMatchObject(paths.map(() => unavailable))
  await around.redis.restore()
  await eventually(() => expect(api.isReady()).toBe(true))
  expect(await readAll()).toMatchObject(found)
})

test('the events of the api carry the id of its installation', async () => {
  const ids: unknown[] = []
  const broker = await openBroker({
    url: around.broker.amqpUrl,
    topology: serviceTopology([]),
    log: silentLog,
    name: 'test',
  })
  await takeEvents(broker, (_event, sent) => void ids.push(sent['sh-installation']))
  const dial = { agentUri: 'sip:alice@acme.example', destination: '+15550100' }
  expect(await api.call('POST', '/api/v1/voice/calls/dial', { headers, json: dial })).toMatchObject({ status: 202 })
  await eventually(() => expect(ids.length).toBeGreaterThan(0))
  await broker.close()
  const redis = await openRedis({ url: around.redis.redisUrl, log: silentLog, name: 'test' })
  const stored = await createInstallationStore(redis).read()
  await redis.close()
  expect(new Set(ids)).toEqual(new Set([stored?.id]))
})
