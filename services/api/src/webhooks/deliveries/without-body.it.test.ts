import type { Delivery } from '@switchhook/contracts'
import { attemptOf, newDelivery } from '@switchhook/servicekit'
import { createDeliveryStore, type DeliveryStore, type Redis } from '@switchhook/store'
import { eventually, unscheduled, unverified } from '@switchhook/testkit'
import type { ApiUnderTest } from '../../testing/api-under-test.ts'
import { useApi } from '../../testing/use-api.ts'

const SUBSCRIPTIONS = '/api/v1/webhooks/subscriptions'
const DELIVERIES = '/api/v1/webhooks/deliveries'
const retention = { finishedRetentionMs: 60_000, parkedRetentionMs: 60_000, scheduleOf: unscheduled }

let api: ApiUnderTest
let redis: Redis
let store: DeliveryStore
let headers: { authorization: string }
let subscription: string

useApi(
  ['acme'],
  (world) => {
    ;({ api, redis } = world)
    headers = world.headers.acme
    store = createDeliveryStore(
      redis,
      retention,
      { perSubscription: 2, perTenant: 1_000, released: () => {} },
      unverified,
    )
  },
  { PARKED_LIMIT_PER_SUBSCRIPTION: '2' },
)

beforeEach(async () => {
  const json = { url: 'https://client.example/hooks', eventTypes: ['call.status'] }
  const { body } = await api.call('POST', SUBSCRIPTIONS, { headers, json })
  subscription = (body as { id: string }).id
})

async function park(): Promise<Delivery> {
  const delivery = newDelivery(subscription)
  await store.park(delivery, attemptOf(delivery, { status: 410 }), 'rejected')
  return delivery
}

/** Parks five, the oldest first: one is dropped, two lose their body, two keep it. */
async function parkTooMany(): Promise<Delivery[]> {
  const parked: Delivery[] = []
  for (let i = 0; i < 5; i++) parked.push(await park())
  return parked
}

const get = async (path: string): Promise<unknown> => (await api.call('GET', path, { headers })).body

test('a subscription shows how many of its deliveries are parked, have lost their body and were dropped', async () => {
  expect(await get(`${SUBSCRIPTIONS}/${subscription}`)).toMatchObject({
    parked: { count: 0, limit: 2, withoutBody: 0, dropped: 0 },
  })
  await parkTooMany()
  expect(await get(`${SUBSCRIPTIONS}/${subscription}`)).toMatchObject({
    parked: { count: 4, limit: 2, withoutBody: 2, dropped: 1 },
  })
})

test('a delivery without a body shows it, and sending it again answers 409', async () => {
  const [, bodyless, , , whole] = await parkTooMany()
  expect(await get(`${DELIVERIES}/${bodyless?.deliveryId}`)).toMatchObject({
    state: 'parked',
    envelope: null,
    envelopeDropped: true,
    attempts: [{ status: 410 }],
  })
  expect(await get(`${DELIVERIES}/${whole?.deliveryId}`)).toMatchObject({ envelope: {}, envelopeDropped: false })
  expect(await api.call('POST', `${DELIVERIES}/${bodyless?.deliveryId}/redeliver`, { headers })).toMatchObject({
    status: 409,
    body: { code: 'delivery-without-body' },
  })
  expect(await get(`${DELIVERIES}/${bodyless?.deliveryId}`)).toMatchObject({ state: 'parked', run: 1 })
})

test('a recovery skips deliveries without a body and counts them as failed', async () => {
  await parkTooMany()
  const path = `${SUBSCRIPTIONS}/${subscription}/recover`
  expect((await api.call('POST', `${path}/preview`, { headers, json: {} })).body).toMatchObject({
    count: 2,
    withoutBody: 2,
  })
  const { body } = await api.call('POST', path, { headers, json: {} })
  expect(body).toMatchObject({ found: 4, failed: 2 })
  const { recoveryId } = body as { recoveryId: string }
  await eventually(
    async () =>
      expect(await get(`/api/v1/webhooks/recoveries/${recoveryId}`)).toMatchObject({
        found: 4,
        failed: 2,
        sent: expect.any(Number),
      }),
    { timeoutMs: 10_000 },
  )
})
