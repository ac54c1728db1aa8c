import {
  type Attempt,
  type Delivery,
  deliveryIdOf,
  newEventId,
  newSubscriptionId,
  type ParkedReason,
  type SubscriptionId,
} from '@switchhook/contracts'
import { type TestRedis, testRedis } from '@switchhook/testkit'
import { openRedis, type Redis } from '../redis/redis.ts'
import { createDeliveryArchive, type DeliveryArchive } from './delivery-archive.ts'
import { createDeliveryStore, type DeliveryStore } from './delivery-store.ts'
import { createParkedWindow, type ParkedWindow } from './parked-window.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }
const HOUR_MS = 3_600_000
const retention = { settledRetentionMs: HOUR_MS, waitingRetentionMs: HOUR_MS, parkedRetentionMs: HOUR_MS }

let server: TestRedis
let redis: Redis
let store: DeliveryStore & DeliveryArchive
let parked: ParkedWindow
let subscriptionId: SubscriptionId

beforeAll(async () => {
  server = await testRedis()
  redis = await openRedis({ url: server.redisUrl, log, name: 'test' })
  store = { ...createDeliveryStore(redis, retention), ...createDeliveryArchive(redis) }
  parked = createParkedWindow(redis)
})

afterAll(async () => {
  await redis.close()
  await server.close()
})

beforeEach(() => {
  subscriptionId = newSubscriptionId()
})

const attempt: Attempt = {
  run: 1,
  slot: 0,
  attempt: 1,
  at: '2026-11-20T12:00:01.000Z',
  durationMs: 12,
  outcome: 'answered',
  status: 503,
}

async function park(reason: ParkedReason = 'exhausted'): Promise<Delivery> {
  const eventId = newEventId()
  const delivery: Delivery = {
    deliveryId: deliveryIdOf(eventId, subscriptionId),
    subscriptionId,
    eventId,
    eventType: 'call.status',
    tenant: 'acme',
    url: 'https://client.example/hooks',
    run: 1,
    slot: 0,
    attempt: 0,
    firstDueAt: '2026-11-20T12:00:00.000Z',
    body: Buffer.from('{}'),
  }
  await store.park(delivery, attempt, reason)
  return delivery
}

async function sendAgain({ deliveryId }: Delivery): Promise<void> {
  const begun = await store.beginRedelivery(deliveryId, { sender: 'a' })
  if (begun.kind !== 'begun') throw new Error(begun.kind)
  await store.redeliverySent(begun.record)
}

const all = async (reason: ParkedReason | null = null) => ({
  after: '0',
  until: (await parked.newest(subscriptionId)) ?? '0',
  reason,
})

const placeOf = ({ deliveryId, run }: Delivery) => ({ deliveryId, run })

test('of nothing there is no newest, and nothing to take or count', async () => {
  expect(await parked.newest(subscriptionId)).toBeNull()
  expect(await parked.take(subscriptionId, await all(), 10)).toEqual({ entries: [], after: null })
  expect(await parked.count(subscriptionId, await all())).toEqual({ count: 0, oldest: null, newest: null })
})

test('a range is taken piece by piece, the oldest first, and what comes later does not belong to it', async () => {
  const deliveries: Delivery[] = []
  for (let i = 0; i < 120; i++) deliveries.push(await park())
  const range = await all()
  await park()
  const taken: unknown[] = []
  let pieces = 0
  for (let after: string | null = range.after; after !== null; pieces++) {
    const found = await parked.take(subscriptionId, { ...range, after }, 9)
    taken.push(...found.entries)
    after = found.after
  }
  expect(taken).toEqual(deliveries.map(placeOf))
  expect(pieces).toBe(14)
  const parkedAt = async (delivery: Delivery | undefined): Promise<unknown> =>
    delivery && (await store.find(delivery.deliveryId))?.parkedAt
  expect(await parked.count(subscriptionId, range)).toEqual({
    count: 120,
    oldest: await parkedAt(deliveries.at(0)),
    newest: await parkedAt(deliveries.at(-1)),
  })
})

test('what was parked for another reason, and what has moved on, does not belong to it', async () => {
  const [rejected, exhausted, gone] = [await park('rejected'), await park(), await park()]
  // Begun, and not known to be published: still parked.
  await store.beginRedelivery(exhausted.deliveryId, { sender: 'a' })
  await sendAgain(gone)
  const range = await all()
  expect((await parked.take(subscriptionId, range, 9)).entries).toEqual([rejected, exhausted].map(placeOf))
  expect((await parked.take(subscriptionId, await all('exhausted'), 9)).entries).toEqual([placeOf(exhausted)])
  expect(await parked.count(subscriptionId, await all('rejected'))).toMatchObject({ count: 1 })
})

test('however few fit, all of the range is looked through', async () => {
  for (let i = 0; i < 60; i++) await park('rejected')
  const last = await park()
  const range = await all('exhausted')
  const first = await parked.take(subscriptionId, range, 5)
  expect(first).toEqual({ entries: [], after: expect.any(String) })
  const second = await parked.take(subscriptionId, { ...range, after: first.after ?? '' }, 5)
  expect(second).toEqual({ entries: [placeOf(last)], after: null })
})

test('a run is begun again only if it is the one that was parked', async () => {
  const delivery = await park()
  expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a', parkedRun: 2 })).toEqual({
    kind: 'not-parked',
  })
  expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a', parkedRun: 1 })).toMatchObject({
    kind: 'begun',
    record: { run: 2 },
  })
  expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a', parkedRun: 1 })).toMatchObject({
    kind: 'begun',
    record: { run: 2 },
  })
  await sendAgain(delivery)
  await store.park({ ...delivery, run: 2, attempt: 1 }, { ...attempt, run: 2, attempt: 2 }, 'rejected')
  expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a', parkedRun: 1 })).toEqual({
    kind: 'not-parked',
  })
  expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a', parkedRun: 2 })).toMatchObject({
    kind: 'begun',
    record: { run: 3 },
  })
})

test('a run is told of by its state, until it is forgotten or a later one has begun', async () => {
  const delivery = await park()
  expect(await parked.stateOf(delivery)).toBe('parked')
  await sendAgain(delivery)
  expect(await parked.stateOf(delivery)).toBe('unknown')
  expect(await parked.stateOf({ ...delivery, run: 2 })).toBe('pending')
  expect(await parked.stateOf({ ...delivery, deliveryId: deliveryIdOf(newEventId(), subscriptionId) })).toBe('unknown')
})
