import {
  type Delivery,
  deliveryIdOf,
  envelopesOf,
  newEventId,
  parseSubscriptionId,
  type SubscriptionId,
} from '@switchhook/contracts'
import {
  attemptOf,
  logFanOut,
  loggedEvent,
  type Surroundings,
  startSurroundings,
  startWorkerStub,
  type WorkerStub,
  waitingUntil,
} from '@switchhook/servicekit'
import { createDeliveryStore, type DeliveryStore, type LoggedEvent, type Redis } from '@switchhook/store'
import { eventually, UNLIMITED, unscheduled, unverified } from '@switchhook/testkit'
import { type ApiUnderTest, startApiUnderTest } from '../../testing/api-under-test.ts'

const WEBHOOKS = '/api/v1/webhooks'
/** Parsing and writing it again would change the number. */
const DATA = '{"callId":"c-1","agentUri":"sip:alice@acme.example","amount":1.0}'

let surroundings: Surroundings<'acme' | 'globex'>
let api: ApiUnderTest
let redis: Redis
let worker: WorkerStub
let store: DeliveryStore
let acme: { authorization: string }
let due: Delivery[]

beforeAll(async () => {
  surroundings = await startSurroundings('acme', 'globex')
  api = await startApiUnderTest(surroundings.env)
  acme = surroundings.bearer('acme')
  worker = await startWorkerStub(surroundings)
  ;({ redis, store, due } = worker)
})

afterEach(() => {
  due.length = 0
})

afterAll(async () => {
  await api.close()
  await worker.close()
  await surroundings.close()
})

async function subscribe(eventTypes = ['call.status']): Promise<SubscriptionId> {
  const json = { url: 'https://client.example/hooks', eventTypes }
  const { body } = await api.call('POST', `${WEBHOOKS}/subscriptions`, { headers: acme, json })
  return parseSubscriptionId((body as { id: string }).id)
}

/** Logs an event as fan-out does. @param isRecent false: the records of its finished deliveries have expired */
async function happen(change: Partial<LoggedEvent> = {}, isRecent = true): Promise<LoggedEvent> {
  const fannedOutAt = new Date(Date.now() - (isRecent ? 0 : 2 * 3_600_000)).toISOString()
  const event = loggedEvent({ dataJson: DATA, fannedOutAt, ...change })
  await logFanOut(redis, event)
  return event
}

const deliveryOf = (event: LoggedEvent, subscriptionId: SubscriptionId): Delivery => {
  const deliveryId = deliveryIdOf(event.eventId, subscriptionId)
  const { eventId, eventType, fannedOutAt: firstDueAt, tenant } = event
  const ids = { deliveryId, subscriptionId, eventId, eventType, tenant }
  const url = 'https://client.example/hooks'
  return { ...ids, url, run: 1, slot: 0, attempt: 0, firstDueAt, body: envelopesOf(event, DATA)(deliveryId) }
}

async function acknowledge(event: LoggedEvent, subscriptionId: SubscriptionId): Promise<Delivery> {
  const delivery = deliveryOf(event, subscriptionId)
  const made = attemptOf(delivery, { outcome: 'delivered', status: 204 })
  await store.settle(delivery, made, { state: 'acknowledged' })
  return delivery
}

/** Acknowledges a delivery whose record expires immediately. */
async function acknowledgeAndForget(delivery: Delivery): Promise<void> {
  const retention = { finishedRetentionMs: 1, parkedRetentionMs: 60_000, scheduleOf: unscheduled }
  const made = attemptOf(delivery, { outcome: 'delivered', status: 204 })
  await createDeliveryStore(redis, retention, UNLIMITED, unverified).settle(delivery, made, { state: 'acknowledged' })
  const path = `${WEBHOOKS}/deliveries/${delivery.deliveryId}`
  await eventually(async () => expect((await api.call('GET', path, { headers: acme })).status).toBe(404))
}

const redeliver = (id: string, headers: Record<string, string> = acme) =>
  api.call('POST', `${WEBHOOKS}/deliveries/${id}/redeliver`, { headers })
const deliver = (eventId: string, subscriptionId: string, headers: Record<string, string> = acme) =>
  api.call('POST', `${WEBHOOKS}/events/${eventId}/deliver`, { headers, json: { subscriptionId } })
const explain = async (eventId: string) =>
  (await api.call('GET', `${WEBHOOKS}/events/${eventId}`, { headers: acme })).body

const sent = (): Promise<Delivery> =>
  eventually(() => {
    const [delivery] = due
    if (delivery === undefined) throw new Error('nothing was sent')
    return delivery
  })

describe('an event of the journal', () => {
  test('is explained with its data, and no longer with what expired', async () => {
    const [asked, other] = [await subscribe(), await subscribe(['agent.status'])]
    const event = await happen({ subscriptionIds: [asked] })
    expect(await explain(event.eventId)).toMatchObject({
      data: { callId: 'c-1', agentUri: 'sip:alice@acme.example', amount: 1 },
      subscriptions: expect.arrayContaining([expect.objectContaining({ subscriptionId: asked, verdict: 'pending' })]),
    })
    const expired = await happen({ subscriptionIds: [asked] }, false)
    expect(await explain(expired.eventId)).toMatchObject({
      data: { callId: 'c-1' },
      occurredAt: expired.occurredAt,
      subscriptions: expect.arrayContaining([
        expect.objectContaining({ subscriptionId: asked, verdict: 'unknown' }),
        expect.objectContaining({ subscriptionId: other, verdict: 'created-later' }),
      ]),
    })
  })

  test('is listed as long as the journal has it', async () => {
    const subject = { callId: 'c-listed', agentUri: null, correlationId: null }
    const event = await happen({ subject }, false)
    const { body } = await api.call('GET', `${WEBHOOKS}/events?callId=c-listed`, { headers: acme })
    expect(body).toMatchObject({ items: [{ eventId: event.eventId }] })
  })

  test('is sent to a subscription that came later, or never asked for its type', async () => {
    const event = await happen({}, false)
    const subscriptionId = await subscribe(['agent.status'])
    const { status, body } = await deliver(event.eventId, subscriptionId)
    const deliveryId = deliveryIdOf(event.eventId, subscriptionId)
    expect([status, body]).toEqual([202, { deliveryId, eventId: event.eventId, subscriptionId, state: 'pending' }])
    const delivery = await sent()
    expect(delivery).toMatchObject({ deliveryId, run: 1, slot: 0, attempt: 0, isRequested: true, tenant: 'acme' })
    expect(delivery.body.equals(deliveryOf(event, subscriptionId).body)).toBe(true)
    const { body: list } = await api.call(
      'GET',
      `${WEBHOOKS}/subscriptions/${subscriptionId}/deliveries?state=pending`,
      { headers: acme },
    )
    expect(list).toMatchObject({ items: [{ deliveryId, state: 'pending' }] })
    expect(await deliver(event.eventId, subscriptionId)).toMatchObject({ status: 409 })
    const { body: audit } = await api.call('GET', '/api/v1/audit?limit=1', { headers: acme })
    expect(audit).toMatchObject({
      items: [{ action: 'event.delivered', on: { eventId: event.eventId, deliveryId, subscriptionId } }],
    })
  })

  test('is sent again to a subscription that acknowledged it, as the next run', async () => {
    const subscriptionId = await subscribe()
    const event = await happen({ subscriptionIds: [subscriptionId] })
    const delivery = await acknowledge(event, subscriptionId)
    expect((await deliver(event.eventId, subscriptionId)).status).toBe(202)
    expect(await sent()).toMatchObject({ deliveryId: delivery.deliveryId, run: 2, slot: 0, attempt: 1 })
  })

  test('with one Idempotency-Key is sent once', async () => {
    const event = await happen()
    const subscriptionId = await subscribe()
    const keyed = { ...acme, 'idempotency-key': 'deliver once' }
    const answers = [
      await deliver(event.eventId, subscriptionId, keyed),
      await deliver(event.eventId, subscriptionId, keyed),
    ]
    expect(answers.map(({ status }) => status)).toEqual([202, 202])
    await sent()
    expect(due).toHaveLength(1)
  })

  test('is refused with the reason where it cannot be sent', async () => {
    const subscriptionId = await subscribe()
    const event = await happen({ subscriptionIds: [subscriptionId] })
    const ofGlobex = await happen({ tenant: 'globex' })
    const { dataJson: _, ...withoutData } = loggedEvent()
    await logFanOut(redis, withoutData)
    const cases = [
      [event.eventId, subscriptionId, 409, 'delivery-not-parked'],
      [ofGlobex.eventId, subscriptionId, 404, 'event-not-found'],
      [newEventId(), subscriptionId, 404, 'event-not-found'],
      ['hello', subscriptionId, 404, 'event-not-found'],
      [event.eventId, newEventId(), 404, 'subscription-not-found'],
      [withoutData.eventId, subscriptionId, 409, 'event-without-body'],
    ] as const
    for (const [eventId, id, status, code] of cases)
      expect(await deliver(eventId, id)).toMatchObject({ status, body: { code } })
    await api.call('PATCH', `${WEBHOOKS}/subscriptions/${subscriptionId}`, { headers: acme, json: { enabled: false } })
    expect(await deliver(event.eventId, subscriptionId)).toMatchObject({
      status: 409,
      body: { code: 'subscription-disabled' },
    })
    expect(due).toEqual([])
  })
})

describe('a delivery that is not parked', () => {
  test('is sent again from the journal, with the same bytes', async () => {
    const subscriptionId = await subscribe()
    const event = await happen({ subscriptionIds: [subscriptionId] })
    const delivery = await acknowledge(event, subscriptionId)
    const { status, body } = await redeliver(delivery.deliveryId)
    expect([status, body]).toMatchObject([202, { state: 'pending', run: 2 }])
    const again = await sent()
    expect(again).toMatchObject({ deliveryId: delivery.deliveryId, run: 2, slot: 0, attempt: 1 })
    expect(again.body.equals(delivery.body)).toBe(true)
  })

  test('and waits for its next attempt gets it now; the waiting message is settled', async () => {
    const subscriptionId = await subscribe()
    const delivery = deliveryOf(await happen({ subscriptionIds: [subscriptionId] }), subscriptionId)
    const nextAttemptAt = new Date(Date.now() + 60_000).toISOString()
    await store.settle(delivery, attemptOf(delivery), waitingUntil(nextAttemptAt))
    expect((await redeliver(delivery.deliveryId)).status).toBe(202)
    expect(await sent()).toMatchObject({ run: 2, slot: 0, attempt: 1 })
    expect(await store.isSettled({ ...delivery, slot: 1, attempt: 1 })).toBe(true)
  })

  test('with an Idempotency-Key is replayed with its envelope after its record has expired, without attempts', async () => {
    const delivery = deliveryOf(await happen({}, false), await subscribe())
    await store.park(delivery, attemptOf(delivery), 'rejected')
    const keyed = { ...acme, 'idempotency-key': 'expired' }
    const first = await redeliver(delivery.deliveryId, keyed)
    expect(first).toMatchObject({ status: 202, body: { envelope: { deliveryId: delivery.deliveryId } } })
    await acknowledgeAndForget(await sent())
    const again = await redeliver(delivery.deliveryId, keyed)
    expect(again).toMatchObject({ status: 202, body: { ...(first.body as object), attempts: [] } })
  })

  test('answers 409 if the journal does not have its event', async () => {
    const subscriptionId = await subscribe()
    const delivery = await acknowledge(loggedEvent(), subscriptionId)
    expect(await redeliver(delivery.deliveryId)).toMatchObject({
      status: 409,
      body: { code: 'delivery-without-body' },
    })
  })
})

test('without a journal, only parked deliveries can be sent again', async () => {
  const other = await startApiUnderTest({ ...surroundings.env, EVENT_JOURNAL_SIZE: '0' })
  const subscriptionId = await subscribe()
  const event = await happen()
  const json = { subscriptionId }
  const answer = await other.call('POST', `${WEBHOOKS}/events/${event.eventId}/deliver`, { headers: acme, json })
  expect(answer).toMatchObject({ status: 409, body: { code: 'journal-off' } })
  expect((await other.call('GET', `${WEBHOOKS}/events/${event.eventId}`, { headers: acme })).body).toMatchObject({
    data: null,
  })
  await other.close()
})
