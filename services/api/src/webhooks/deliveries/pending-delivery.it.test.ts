import {
  deliveryIdOf,
  newEventId,
  newSubscriptionId,
  parseSubscriptionId,
  type SubscriptionId,
} from '@switchhook/contracts'
import { logFanOut, loggedEvent, newDelivery } from '@switchhook/servicekit'
import { createDeliveryStore, type LoggedEvent, type Redis } from '@switchhook/store'
import { UNLIMITED, unscheduled, unverified } from '@switchhook/testkit'
import type { ApiUnderTest } from '../../testing/api-under-test.ts'
import { useApi } from '../../testing/use-api.ts'

const SUBSCRIPTIONS = '/api/v1/webhooks/subscriptions'
const DELIVERIES = '/api/v1/webhooks/deliveries'
const URL = 'https://client.example/hooks'
const HOUR_MS = 3_600_000

let api: ApiUnderTest
let redis: Redis
let acme: { authorization: string }
let globex: { authorization: string }

useApi(
  ['acme', 'globex'],
  (world) =>
    ({
      api,
      redis,
      headers: { acme, globex },
    } = world),
)

async function subscribe(): Promise<SubscriptionId> {
  const json = { url: URL, eventTypes: ['call.status'] }
  const { body } = await api.call('POST', SUBSCRIPTIONS, { headers: acme, json })
  return parseSubscriptionId((body as { id: string }).id)
}

const anEvent = (...subscriptionIds: readonly SubscriptionId[]): LoggedEvent => loggedEvent({ subscriptionIds })

const read = (id: string, headers = acme) => api.call('GET', `${DELIVERIES}/${id}`, { headers })

describe('a delivery whose first attempt is not finished', () => {
  test('is pending, as in the list of its subscription, without an envelope', async () => {
    const subscriptionId = await subscribe()
    const event = anEvent(await subscribe(), subscriptionId)
    await logFanOut(redis, event)
    const deliveryId = deliveryIdOf(event.eventId, subscriptionId)
    const { status, body } = await read(deliveryId)
    expect(status).toBe(200)
    const { envelope, envelopeDropped, ...summary } = body as Record<string, unknown>
    expect({ envelope, envelopeDropped }).toEqual({ envelope: null, envelopeDropped: false })
    expect(summary).toEqual({
      deliveryId,
      subscriptionId,
      eventId: event.eventId,
      eventType: 'call.status',
      url: URL,
      state: 'pending',
      parkedReason: null,
      parkedAt: null,
      nextAttemptAt: null,
      run: 1,
      test: false,
      firstDueAt: event.fannedOutAt,
      attempts: [],
    })
    const list = await api.call('GET', `${SUBSCRIPTIONS}/${subscriptionId}/deliveries?state=pending`, { headers: acme })
    expect((list.body as { items: unknown[] }).items).toEqual([{ ...summary, firstDueAt: expect.any(String) }])
    const explained = await api.call('GET', `/api/v1/webhooks/events/${event.eventId}`, { headers: acme })
    expect(explained.body).toMatchObject({
      subscriptions: expect.arrayContaining([expect.objectContaining({ deliveryId })]),
    })
  })

  test('is found by its id in upper or lower case', async () => {
    const subscriptionId = await subscribe()
    const event = anEvent(subscriptionId)
    await logFanOut(redis, event)
    expect((await read(deliveryIdOf(event.eventId, subscriptionId).toUpperCase())).status).toBe(200)
  })

  test('is found by a receiver that asks before the fan-out is logged', async () => {
    const subscriptionId = await subscribe()
    const event = anEvent(subscriptionId)
    const asked = read(deliveryIdOf(event.eventId, subscriptionId))
    await logFanOut(redis, event)
    expect((await asked).body).toMatchObject({ state: 'pending' })
  })

  test('cannot be sent again: 409', async () => {
    const subscriptionId = await subscribe()
    const event = anEvent(subscriptionId)
    await logFanOut(redis, event)
    const path = `${DELIVERIES}/${deliveryIdOf(event.eventId, subscriptionId)}/redeliver`
    for (const headers of [acme, { ...acme, 'idempotency-key': 'pending-1' }]) {
      expect(await api.call('POST', path, { headers })).toMatchObject({
        status: 409,
        body: { code: 'delivery-not-parked' },
      })
    }
    expect(await api.call('POST', path, { headers: globex })).toMatchObject({ status: 404 })
  })

  test('of a deleted subscription is pending without a url', async () => {
    const subscriptionId = await subscribe()
    const event = anEvent(subscriptionId)
    await logFanOut(redis, event)
    await api.call('DELETE', `${SUBSCRIPTIONS}/${subscriptionId}`, { headers: acme })
    expect((await read(deliveryIdOf(event.eventId, subscriptionId))).body).toMatchObject({
      state: 'pending',
      url: null,
    })
  })

  test('is shown from its record once it has one', async () => {
    const subscriptionId = await subscribe()
    const event = anEvent(subscriptionId)
    await logFanOut(redis, event)
    const { eventId } = event
    const deliveryId = deliveryIdOf(eventId, subscriptionId)
    const delivery = newDelivery(subscriptionId, { eventId, deliveryId, url: URL })
    const retention = { finishedRetentionMs: HOUR_MS, parkedRetentionMs: HOUR_MS, scheduleOf: unscheduled }
    await createDeliveryStore(redis, retention, UNLIMITED, unverified).settle(delivery, null, { state: 'withdrawn' })
    expect((await read(deliveryId)).body).toMatchObject({ state: 'withdrawn', url: URL })
  })
})

test.each<[string, () => Promise<string>]>([
  ['an unknown id', async () => deliveryIdOf(newEventId(), newSubscriptionId())],
  ['a GUID of another version', async () => newEventId()],
  ['a malformed id', async () => '4711'],
  [
    'the id for a subscription that the event did not match',
    async () => {
      const [matched, other] = [await subscribe(), await subscribe()]
      const event = anEvent(matched)
      await logFanOut(redis, event)
      return deliveryIdOf(event.eventId, other)
    },
  ],
])('%s answers 404', async (_name, id) => {
  expect(await read(await id())).toMatchObject({ status: 404, body: { code: 'delivery-not-found' } })
})

test('the id of another tenant’s pending delivery answers 404', async () => {
  const subscriptionId = await subscribe()
  const event = anEvent(subscriptionId)
  await logFanOut(redis, event)
  const deliveryId = deliveryIdOf(event.eventId, subscriptionId)
  expect((await read(deliveryId)).status).toBe(200)
  expect(await read(deliveryId, globex)).toMatchObject({ status: 404, body: { code: 'delivery-not-found' } })
})
