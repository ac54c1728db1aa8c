import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, envelopeOf, openClient, publishEvent, type Subscription } from './client.ts'
import { bringUp, end, readStack } from './stack.ts'

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

test('what is in flight at a killed worker and a killed fan-out is handled by the others', async () => {
  let isDown = true
  const answered = new Set<unknown>()
  receiver.answer('/hook', (request) => {
    if (isDown) return { instead: 'hang' }
    answered.add(envelopeOf(request).data['marker'])
    return { status: 204 }
  })
  const published = Promise.all(Array.from({ length: 100 }, () => publishEvent()))
  // Each worker has some of them in flight, sent and unanswered; only the killed worker knows about its own.
  await receiver.waitFor(4, '/hook')
  await Promise.all([end('fanout-1', 'SIGKILL'), end('delivery-worker-1', 'SIGKILL')])
  isDown = false
  const markers = [...(await published), ...(await publishMany(10))]
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
