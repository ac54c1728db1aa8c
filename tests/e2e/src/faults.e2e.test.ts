import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, envelopeOf, openClient, publishEvent, type Subscription } from './client.ts'
import { bringUp, end, logOf, readStack } from './stack.ts'

let acme: Client
let receiver: Receiver
let subscription: Subscription

beforeAll(async () => {
  ;[acme, receiver] = await Promise.all([openClient('acme'), startReceiver()])
  subscription = await acme.subscribe(receiver.url('/hook'))
})

afterEach(bringUp, 60_000)

afterAll(async () => {
  await acme.unsubscribe(subscription.id)
  await receiver.close()
})

/** Resolves once each of these events has reached the endpoint at least once. */
async function allArrived(markers: readonly string[], timeoutMs = 30_000): Promise<void> {
  await eventually(
    () => {
      const arrived = new Set(receiver.requests('/hook').map((request) => envelopeOf(request).data['marker']))
      expect(markers.filter((marker) => !arrived.has(marker))).toEqual([])
    },
    { timeoutMs },
  )
}

async function publishMany(count: number): Promise<string[]> {
  const markers: string[] = []
  for (let n = 0; n < count; n++) markers.push(await publishEvent())
  return markers
}

test('deliveries in flight at a killed worker are delivered by another worker', async () => {
  let isDown = true
  const answered = new Set<unknown>()
  receiver.answer('/hook', (request) => {
    if (isDown) return { instead: 'hang' }
    answered.add(envelopeOf(request).data['marker'])
    return { status: 204 }
  })
  const markers = await publishMany(40)
  // Each worker has some of them in flight, sent and unanswered; only the killed worker knows about its own.
  await end('delivery-worker-1', 'SIGKILL')
  isDown = false
  await eventually(() => expect(markers.filter((marker) => !answered.has(marker))).toEqual([]), { timeoutMs: 60_000 })
  receiver.answer('/hook', { status: 204 })
})

test('without a running worker, calls are accepted and their deliveries wait', async () => {
  await Promise.all([end('delivery-worker-1', 'SIGKILL'), end('delivery-worker-2', 'SIGKILL')])
  const markers = await publishMany(20)
  const callId = await acme.dial('sip:e2e-22@acme.example', '+15550101')
  expect(receiver.requests('/hook').filter((request) => envelopeOf(request).data['callId'] === callId)).toEqual([])
  await bringUp()
  await allArrived(markers)
  await eventually(() => {
    const states = receiver
      .requests('/hook')
      .map((request) => envelopeOf(request).data)
      .filter((data) => data['callId'] === callId)
    expect(states.map((data) => data['state'])).toEqual(expect.arrayContaining([1, 7]))
  })
})

test('events in flight at a killed fan-out are fanned out by another replica', async () => {
  const before = Promise.all(Array.from({ length: 100 }, () => publishEvent()))
  await Promise.race([before, receiver.waitFor(receiver.requests().length + 10)])
  await end('fanout-1', 'SIGKILL')
  await allArrived([...(await before), ...(await publishMany(10))])
})

test('a worker that gets SIGTERM finishes its deliveries in flight and exits with code 0', async () => {
  const name = 'delivery-worker-1'
  receiver.answer('/hook', { status: 204, delayMs: 500 })
  const markers = await publishMany(20)
  await receiver.waitFor(1, '/hook')
  await end(name, 'SIGTERM')
  await allArrived(markers)
  receiver.answer('/hook', { status: 204 })

  expect(logOf(name).map((line) => JSON.parse(line) as { message: string; clean?: boolean })).toContainEqual(
    expect.objectContaining({ message: 'shut down', clean: true }),
  )
  const deliveries = receiver
    .requests('/hook')
    .filter((request) => markers.includes(String(envelopeOf(request).data['marker'])))
  expect(deliveries.map(({ headers }) => headers['x-svc-attempt'])).toEqual(Array(20).fill('1'))
})

test('a call continues when every api replica is killed, and its events arrive after the restart', async () => {
  const agentUri = 'sip:e2e-20@acme.example'
  const callId = await acme.dial(agentUri, '+15550100')
  await Promise.all([end('api-1', 'SIGKILL'), end('api-2', 'SIGKILL')])
  await bringUp()
  await eventually(
    () => {
      const states = receiver
        .requests('/hook')
        .map((request) => envelopeOf(request).data)
        .filter((data) => data['callId'] === callId)
      expect(states.map((data) => data['state'])).toEqual(expect.arrayContaining([1, 8, 3]))
    },
    { timeoutMs: 60_000 },
  )
  expect((await acme.request('POST', `/voice/calls/${callId}/hangup`, { agentUri })).status).toBe(202)
})

test('while RabbitMQ is down calls are accepted, and their events arrive afterwards', async () => {
  const agentUri = 'sip:e2e-21@acme.example'
  await end('rabbitmq', 'SIGKILL')
  await eventually(async () => {
    const { healthPorts } = readStack()
    const ask = (name: string) => fetch(`http://127.0.0.1:${healthPorts[name]}/readyz`)
    const [api, worker] = await Promise.all([ask('api-1'), ask('delivery-worker-1')])
    expect([api.status, worker.status]).toEqual([200, 503])
    const checks = { redis: true, installation: true }
    expect(await api.json()).toEqual({ status: 'ready', checks, degraded: ['rabbitmq'] })
  })
  const callId = await acme.dial(agentUri, '+15550101')
  await bringUp()
  await eventually(
    () => {
      const states = receiver
        .requests('/hook')
        .map((request) => envelopeOf(request).data)
        .filter((data) => data['callId'] === callId)
      expect(states.map((data) => data['state'])).toEqual(expect.arrayContaining([1, 7]))
    },
    { timeoutMs: 40_000 },
  )
}, 120_000)

test('while Redis is down requests are refused, and everything recovers when it is back', async () => {
  await end('redis', 'SIGKILL')
  const refused = await acme.request<{ code: string }>('POST', '/webhooks/subscriptions', {
    url: receiver.url(),
    eventTypes: ['call.status'],
  })
  expect(refused).toMatchObject({ status: 503, body: { code: 'service-unavailable' } })
  expect(refused.headers.get('retry-after')).not.toBeNull()
  const markers = await publishMany(10)
  await bringUp()
  await allArrived(markers, 40_000)
  const { id, url, createdAt } = subscription
  await eventually(async () => {
    const { status, body } = await acme.request<Subscription[]>('GET', '/webhooks/subscriptions')
    expect(status).toBe(200)
    expect(body).toContainEqual(expect.objectContaining({ id, url, createdAt }))
  })
}, 120_000)
