import { randomUUID } from 'node:crypto'
import type { Schemas } from '@switchhook/client'
import { eventually, type Receiver, startReceiver, watchReadingDelay } from '@switchhook/testkit'
import { type Client, envelopeOf, openClient, publish, type Subscription } from './client.ts'

let acme: Client
let receiver: Receiver
const created: Subscription[] = []

beforeAll(async () => {
  ;[acme, receiver] = await Promise.all([openClient('acme'), startReceiver()])
})

afterEach(async () => {
  for (const { id } of created.splice(0)) await acme.unsubscribe(id)
})

afterAll(() => receiver.close())

async function subscribe(path: string, settings: Partial<Schemas['SubscriptionInput']>): Promise<Subscription> {
  const subscription = await acme.api.subscriptions.create({
    url: receiver.url(path),
    eventTypes: ['call.status'],
    ...settings,
  })
  created.push(subscription)
  return subscription
}

/** Publishes a call event of this age. Returns its id. */
async function publishCall(ageMs: number, state: number): Promise<string> {
  const eventId = randomUUID()
  const occurredAt = new Date(Date.now() - ageMs).toISOString()
  const event = { eventId, eventType: 'call.status', occurredAt, tenant: 'acme', data: { eventId, state } }
  await publish('call.status', JSON.stringify(event))
  return eventId
}

const verdictOf = async (eventId: string, subscription: Subscription) =>
  (await acme.api.events.explain(eventId)).subscriptions.find(
    ({ subscriptionId }) => subscriptionId === subscription.id,
  )

const sentTo = (path: string) => receiver.requests(path).map((request) => envelopeOf(request).data['eventId'])

describe('expireAfterSeconds', () => {
  test('an old event is not sent, but the end of a call is, and what a person asks for', async () => {
    const subscription = await subscribe('/old', { expireAfterSeconds: 60 })
    expect(subscription).toMatchObject({ expireAfterSeconds: 60 })
    const ringing = await publishCall(120_000, 2)
    const ended = await publishCall(120_000, 7)
    const young = await publishCall(0, 2)
    await eventually(async () => {
      expect(await verdictOf(ringing, subscription)).toMatchObject({ verdict: 'expired', attemptCount: 0 })
      expect(new Set(sentTo('/old'))).toEqual(new Set([ended, young]))
    })
    // The body comes from the journal, which gets an event after its deliveries.
    await eventually(() => acme.api.events.deliver(ringing, { subscriptionId: subscription.id }))
    await eventually(async () => {
      expect(sentTo('/old')).toContain(ringing)
      expect(await verdictOf(ringing, subscription)).toMatchObject({ verdict: 'delivered' })
    })
  })

  test('a retry is not made once its event has expired, and nothing is parked', async () => {
    const subscription = await subscribe('/late', { expireAfterSeconds: 10 })
    receiver.answer('/late', { status: 503 })
    // Its first attempts are made within the ten seconds, unless the machine stalls; a later one is not.
    const eventId = await publishCall(9_000, 2)
    const { items } = await eventually(async () => {
      const page = await acme.api.subscriptions.deliveries(subscription.id, { state: 'expired' }).page()
      expect(page.items).toHaveLength(1)
      return page
    })
    expect(items).toMatchObject([{ eventId, state: 'expired', parkedReason: null }])
    expect(await acme.api.subscriptions.read(subscription.id)).toMatchObject({ parked: { count: 0 } })
  })

  test('null removes it', async () => {
    const subscription = await subscribe('/removed', { expireAfterSeconds: 10 })
    const changed = await acme.api.subscriptions.change(subscription.id, { expireAfterSeconds: null })
    expect(changed).toMatchObject({ expireAfterSeconds: null })
    const eventId = await publishCall(3_600_000, 2)
    await eventually(() => expect(sentTo('/removed')).toEqual([eventId]))
  })
})

describe('headers', () => {
  const headers = { Authorization: 'Bearer e2e-value-1', 'X-Key': 'e2e-value-2' }

  test('are sent on every attempt, with tests and with receiver checks; a change counts from the next attempt', async () => {
    const subscription = await subscribe('/headers', { headers })
    receiver.answer('/headers', { status: 503, body: 'you sent Bearer e2e-value-1 and e2e-value-2' })
    const eventId = await publishCall(0, 2)
    await receiver.waitFor(1, '/headers')
    await acme.api.subscriptions.change(subscription.id, { headers: { 'x-key': 'e2e-value-3' } })
    const seen = () => receiver.requests('/headers')
    await publishCall(0, 3)
    await eventually(async () => {
      expect(seen().at(-1)?.headers).toMatchObject({ authorization: 'Bearer e2e-value-1', 'x-key': 'e2e-value-3' })
      expect(await verdictOf(eventId, subscription)).toMatchObject({ lastAttempt: { status: 503 } })
    })
    expect(seen()[0]?.headers).toMatchObject({ authorization: 'Bearer e2e-value-1', 'x-key': 'e2e-value-2' })
    const { deliveryId } = (await verdictOf(eventId, subscription)) ?? {}
    const { attempts } = await acme.api.deliveries.read(deliveryId ?? '')
    expect(attempts[0]).toMatchObject({ answer: 'you sent [redacted] and [redacted]' })
    receiver.answer('/headers', { status: 204 })
    const before = seen().length
    await acme.api.subscriptions.test(subscription.id)
    await eventually(() => expect(seen().length).toBeGreaterThan(before))
    await acme.api.subscriptions.check(subscription.id)
    expect(
      seen()
        .slice(1)
        .map((request) => request.headers['x-key']),
    ).not.toContain(undefined)
  })

  test('do not reach another host unless they are named again', async () => {
    const subscription = await subscribe('/here', { headers })
    const other = await startReceiver()
    const elsewhere = other.url('/there')
    const path = `/webhooks/subscriptions/${subscription.id}`
    const refused = await acme.request<{ errors: { pointer: string }[] }>('PATCH', path, { url: elsewhere })
    expect(refused.status).toBe(400)
    expect(refused.body.errors.map(({ pointer }) => pointer)).toEqual(['/headers/authorization', '/headers/x-key'])
    await acme.api.subscriptions.change(subscription.id, {
      url: elsewhere,
      headers: { authorization: null, 'x-key': '***' },
    })
    await publishCall(0, 2)
    const [request] = await other.waitFor(1, '/there')
    await other.close()
    expect(request?.headers).toMatchObject({ 'x-key': 'e2e-value-2' })
    expect(request?.headers).not.toHaveProperty('authorization')
  })
})

test('a subscription to * receives every type and is shown as such', async () => {
  const subscription = await subscribe('/all', { eventTypes: ['*'] })
  expect(subscription.eventTypes).toEqual(['*'])
  const ids = [randomUUID(), randomUUID()]
  const occurredAt = new Date().toISOString()
  const types = ['call.status', 'agent.status'] as const
  for (const [at, eventId] of ids.entries()) {
    const eventType = types[at] ?? ''
    await publish(eventType, JSON.stringify({ eventId, eventType, occurredAt, tenant: 'acme', data: { eventId } }))
  }
  await eventually(() => expect(sentTo('/all')).toEqual(expect.arrayContaining(ids)))
  expect((await acme.api.subscriptions.read(subscription.id)).eventTypes).toEqual(['*'])
  const narrowed = await acme.api.subscriptions.change(subscription.id, { eventTypes: ['agent.status'] })
  expect(narrowed.eventTypes).toEqual(['agent.status'])
})

describe('maxInFlight and maxPerSecond', () => {
  test.each([
    { maxInFlight: 1, maxPerSecond: null },
    { maxInFlight: null, maxPerSecond: 4 },
  ])(
    '%j is never exceeded, everything arrives, and explain says why it waits',
    async (limits) => {
      const path = `/limited-${limits.maxInFlight}`
      receiver.answer(path, { delayMs: 150 })
      const readingDelay = watchReadingDelay()
      const subscription = await subscribe(path, limits)
      expect(subscription).toMatchObject(limits)
      const ids: string[] = []
      for (let i = 0; i < 16; i++) ids.push(await publishCall(0, 2))
      const verdicts = await eventually(async () => {
        const found = await Promise.all(ids.map((eventId) => verdictOf(eventId, subscription)))
        const held = found.filter((each) => each?.verdict === 'held')
        expect(held).not.toEqual([])
        return held
      })
      expect(verdicts[0]?.explanation).toMatch(/^Held: more is due than the subscription allows \(max\w+ \d\)/)
      await eventually(() => expect(new Set(sentTo(path))).toEqual(new Set(ids)))
      const times = receiver.requests(path).map(({ receivedAt }) => receivedAt)
      const count = limits.maxInFlight ?? limits.maxPerSecond ?? 0
      const gaps = times.slice(count).map((time, i) => time - (times[i] ?? 0))
      // The next one begins after an answer, or after a second. Timers round.
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(limits.maxInFlight === null ? 1_000 - readingDelay.maxMs() : 145)
      readingDelay.stop()
    },
    60_000,
  )

  test('null removes a limit and releases what it held; a pull subscription refuses it', async () => {
    const subscription = await subscribe('/unlimited', { maxInFlight: 1 })
    // Well below DELIVERY_TIMEOUT: a POST that times out is made again.
    receiver.answer('/unlimited', { delayMs: 500 })
    for (let i = 0; i < 30; i++) await publishCall(0, 2)
    await receiver.waitFor(1, '/unlimited')
    const changed = await acme.api.subscriptions.change(subscription.id, { maxInFlight: null })
    expect(changed).toMatchObject({ maxInFlight: null })
    // A set: a POST whose answer was too late for a busy worker comes twice.
    await eventually(() => expect(new Set(sentTo('/unlimited')).size).toBe(30), { timeoutMs: 50_000 })
    const body = { mode: 'pull', eventTypes: ['call.status'], maxInFlight: 1 }
    const refused = await acme.request<{ errors: { pointer: string }[] }>('POST', '/webhooks/subscriptions', body)
    expect([refused.status, refused.body.errors[0]?.pointer]).toEqual([400, '/maxInFlight'])
  }, 60_000)
})
