import { randomUUID } from 'node:crypto'
import { eventually, type ReceivedRequest, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, envelopeOf, openClient, publish, publishEvent, type Subscription } from './client.ts'
import { listQuarantine, logOf, readStack } from './stack.ts'

let acme: Client
let receiver: Receiver
let subscription: Subscription

beforeAll(async () => {
  ;[acme, receiver] = await Promise.all([openClient('acme'), startReceiver()])
  subscription = await acme.subscribe(receiver.url('/hook'), ['call.status', 'agent.status'])
})

afterAll(async () => {
  await acme.unsubscribe(subscription.id)
  await receiver.close()
})

test('an event that another platform publishes is delivered with its data and its time', async () => {
  const occurredAt = '2026-01-02T03:04:05.678Z'
  const marker = await publishEvent({ eventType: 'agent.status', occurredAt })
  await eventually(() => {
    const request = receiver.requests('/hook').find((one) => envelopeOf(one).data['marker'] === marker)
    if (request === undefined) throw new Error('the event has not arrived yet')
    expect(envelopeOf(request)).toMatchObject({ eventType: 'agent.status', occurredAt, tenant: 'acme' })
    expect(request.headers['x-svc-event']).toBe('agent.status')
  })
})

test('an event that is published twice becomes one delivery', async () => {
  const eventId = randomUUID()
  const payload = JSON.stringify({
    eventId,
    eventType: 'call.status',
    occurredAt: new Date().toISOString(),
    tenant: 'acme',
    data: { twice: eventId },
  })
  await publish('call.status', payload)
  const ofEvent = (): ReceivedRequest[] =>
    receiver.requests('/hook').filter((one) => envelopeOf(one).data['twice'] === eventId)
  await eventually(() => expect(ofEvent()).toHaveLength(1))
  await publish('call.status', payload)
  const after = await publishEvent()
  await eventually(() =>
    expect(receiver.requests('/hook').some((one) => envelopeOf(one).data['marker'] === after)).toBe(true),
  )
  expect(ofEvent()).toHaveLength(1)
})

test('an invalid message goes to quarantine once, with the reason, and blocks nothing', async () => {
  const event = {
    eventId: randomUUID(),
    eventType: 'call.status',
    occurredAt: '2026-01-01T00:00:00Z',
    tenant: 'acme',
    data: {},
  }
  const bad: [string, string, RegExp][] = [
    ['call.status', '{"eventId":', /not JSON/],
    ['call.rating', JSON.stringify({ ...event, eventType: 'call.rating' }), /\/eventType must be one of/],
    ['call.status', JSON.stringify({ ...event, eventId: undefined }), /\/eventId is required/],
    ['call.status', JSON.stringify({ ...event, data: 'ring' }), /\/data must be an object/],
    ['call.status', JSON.stringify({ ...event, occurredAt: 'yesterday' }), /\/occurredAt must be an RFC 3339 time/],
    ['agent.status', JSON.stringify(event), /routing key/],
  ]
  for (const [routingKey, payload] of bad) await publish(routingKey, payload)
  const marker = await publishEvent()
  await eventually(() =>
    expect(receiver.requests('/hook').some((one) => envelopeOf(one).data['marker'] === marker)).toBe(true),
  )

  const listed = await eventually(async () => {
    const lines = await listQuarantine()
    expect(lines).toHaveLength(bad.length)
    return lines
  })
  for (const [, , reason] of bad) expect(listed.filter((line) => reason.test(line))).toHaveLength(1)
  // Listing the quarantine removes nothing from it.
  expect(await listQuarantine()).toHaveLength(bad.length)
})

test('a worker logs one line per attempt and never a secret', async () => {
  const marker = await publishEvent()
  const delivered = await eventually(() => {
    const request = receiver.requests('/hook').find((one) => envelopeOf(one).data['marker'] === marker)
    if (request === undefined) throw new Error('the event has not arrived yet')
    return envelopeOf(request).deliveryId
  })
  await eventually(() => {
    const lines = ['delivery-worker-1', 'delivery-worker-2'].flatMap(logOf).filter((line) => line.includes(delivered))
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'info',
      service: 'delivery-worker',
      message: 'delivery.attempted',
      subscriptionId: subscription.id,
      attempt: 1,
      outcome: 'delivered',
      status: 204,
      decision: 'acknowledged',
    })
  })
  for (const name of Object.keys(readStack().processes).filter((process) => /^(api|fanout|delivery)/.test(process))) {
    expect(logOf(name).filter((line) => /eyJ[\w-]+\.eyJ|guest:guest|acme-secret/.test(line))).toEqual([])
  }
})

test('every process serves liveness, readiness and metrics on its health port', async () => {
  const { healthPorts } = readStack()
  expect(Object.keys(healthPorts).toSorted()).toEqual([
    'api-1',
    'api-2',
    'delivery-worker-1',
    'delivery-worker-2',
    'fanout-1',
    'fanout-2',
  ])
  for (const [name, port] of Object.entries(healthPorts)) {
    const [health, ready, metrics] = await Promise.all(
      ['/healthz', '/readyz', '/metrics'].map((path) => fetch(`http://127.0.0.1:${port}${path}`)),
    )
    expect([health?.status, ready?.status, metrics?.status]).toEqual([200, 200, 200])
    const needed = { redis: true, installation: true }
    const checks = name.startsWith('api') ? needed : { ...needed, rabbitmq: true, consumers: true, clock: true }
    expect(await ready?.json()).toEqual({ status: 'ready', checks })
    expect(await metrics?.text()).toContain('process_cpu_seconds_total')
  }
})
