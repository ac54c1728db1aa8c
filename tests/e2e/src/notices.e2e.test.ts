import { eventually, type ReceivedRequest, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, envelopeOf, openClient, publishEvent, type Subscription } from './client.ts'

/** More than `BREAKER_FAILURES` of the test stack (20). */
const EVENTS = 30
const COOLDOWN_MS = 2_000
/** Values of docs/notices.md. */
const ANSWERED = 2
const REJECTED = 2

const NOTICES = ['webhook.endpoint.failing', 'webhook.endpoint.recovered', 'webhook.delivery.parked']

let acme: Client
let globex: Client
let receiver: Receiver
let subscription: Subscription
let ops: Subscription
let strangers: Subscription

beforeAll(async () => {
  ;[acme, globex] = await Promise.all([openClient('acme'), openClient('globex', 1)])
})

beforeEach(async () => {
  receiver = await startReceiver()
  subscription = await acme.subscribe(receiver.url('/hook?token=secret'))
  ops = await acme.subscribe(receiver.url('/ops'), NOTICES)
  strangers = await globex.subscribe(receiver.url('/strangers'), NOTICES)
})

afterEach(async () => {
  for (const { id } of [subscription, ops]) await acme.unsubscribe(id)
  await globex.unsubscribe(strangers.id)
  await receiver.close()
})

/** Notices of this test's subscriptions only: deliveries of earlier tests of the same tenant may be parked meanwhile. */
const told = (eventType: string, { id }: Subscription = subscription): readonly ReceivedRequest[] =>
  receiver
    .requests('/ops')
    .filter((request) => request.headers['x-svc-event'] === eventType)
    .filter((request) => envelopeOf(request).data['subscriptionId'] === id)

const healthOf = async ({ id }: Subscription) => (await acme.api.subscriptions.read(id)).health

test('an outage and its end are each reported once, only to their tenant, even if the endpoint keeps failing', async () => {
  receiver.answer('/hook?token=secret', { status: 503 })
  await Promise.all(Array.from({ length: EVENTS }, () => publishEvent()))
  const [failing] = await eventually(() => {
    const seen = told('webhook.endpoint.failing')
    expect(seen).toHaveLength(1)
    return seen
  })
  const { data, tenant, occurredAt } = envelopeOf(failing)
  expect(data).toMatchObject({
    subscriptionId: subscription.id,
    url: receiver.url('/hook'),
    failures: 20,
    since: occurredAt,
    lastOutcome: ANSWERED,
    lastStatus: 503,
  })
  expect(tenant).toBe('acme')
  expect(Date.parse(String(data['until'])) - Date.parse(occurredAt)).toBe(COOLDOWN_MS)

  // The probe fails, so another cool-down begins.
  await eventually(async () => expect((await healthOf(subscription)).consecutiveFailures).toBeGreaterThan(20))
  receiver.answer('/hook?token=secret', { status: 204 })
  // On a slow machine all earlier deliveries may be parked by now, and none of them would probe the endpoint again.
  await publishEvent()
  const [recovered] = await eventually(
    () => {
      const seen = told('webhook.endpoint.recovered')
      expect(seen).toHaveLength(1)
      return seen
    },
    { timeoutMs: 60_000 },
  )
  expect(envelopeOf(recovered).data).toMatchObject({ subscriptionId: subscription.id, since: occurredAt })
  expect(told('webhook.endpoint.failing')).toHaveLength(1)
  expect(receiver.requests('/strangers')).toEqual([])
})

test('a parked delivery is reported as it is stored, and no notice is about a notice', async () => {
  receiver.answer('/hook?token=secret', { status: 400 })
  // The ops endpoint rejects every notice, so each notice is parked as well.
  receiver.answer('/ops', { status: 410 })
  await publishEvent()
  await publishEvent()
  await eventually(() => expect(told('webhook.delivery.parked')).toHaveLength(2))
  const parked = await acme.api.subscriptions.deliveries(subscription.id, { state: 'parked' }).page()
  const notices = told('webhook.delivery.parked').map((request) => envelopeOf(request).data)
  for (const { deliveryId, eventId, parkedAt } of parked.items) {
    expect(notices.find((data) => data['deliveryId'] === deliveryId)).toEqual({
      deliveryId,
      subscriptionId: subscription.id,
      url: receiver.url('/hook'),
      eventId,
      eventType: 'call.status',
      parkedReason: REJECTED,
      run: 1,
      attempts: 1,
      lastOutcome: ANSWERED,
      lastStatus: 400,
      parkedAt,
      occurredAt: parkedAt,
    })
  }
  // The notices themselves are parked, and no other notice has arrived before the next one.
  await eventually(async () => {
    const own = await acme.api.subscriptions.deliveries(ops.id).page()
    expect(own.items.length).toBeGreaterThanOrEqual(2)
  })
  await publishEvent()
  await eventually(() => expect(told('webhook.delivery.parked')).toHaveLength(3))
  for (const notice of NOTICES) expect(told(notice, ops)).toEqual([])
})

test('a subscription shows within seconds when its endpoint last answered and last failed', async () => {
  receiver.answer('/hook?token=secret', [{ status: 502 }, { status: 200 }])
  await publishEvent()
  const requests = await receiver.waitFor(2, '/hook?token=secret')
  const health = await eventually(
    async () => {
      const present = await healthOf(subscription)
      expect(present.lastSuccessAt).not.toBeNull()
      expect(present.lastFailureAt).not.toBeNull()
      return present
    },
    { timeoutMs: 15_000 },
  )
  expect(health).toMatchObject({ consecutiveFailures: 0, lastFailureOutcome: 'answered', lastFailureStatus: 502 })
  // A worker knows the time of Redis to within half of a round trip.
  const toleranceMs = 100
  for (const [index, at] of [health.lastFailureAt, health.lastSuccessAt].entries()) {
    expect(Date.parse(String(at))).toBeGreaterThanOrEqual((requests[index]?.receivedAt ?? 0) - toleranceMs)
    expect(Date.parse(String(at))).toBeLessThanOrEqual((requests[index + 1]?.receivedAt ?? Date.now()) + toleranceMs)
  }
})
