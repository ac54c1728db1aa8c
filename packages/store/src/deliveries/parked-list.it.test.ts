import { type Delivery, newSubscriptionId, type SubscriptionId } from '@switchhook/contracts'
import { unverified } from '@switchhook/testkit'
import { bodyKey, parkedKey, parkingSubscriptionsKey, recordKey, totalKey } from '../keys.ts'
import { execute, type Redis } from '../redis/redis.ts'
import type { DeliveryArchive } from './delivery-archive.ts'
import { createDeliveryStore, type DeliveryStore } from './delivery-store.ts'
import { createParkedCounter } from './parked-list.ts'
import { createLimitNotices } from './tenant-sizes.ts'
import { deliveryOf, HOUR_MS, refused, retention, type TestDeliveries, useDeliveries } from './testing/deliveries.ts'

let fixture: TestDeliveries
let store: DeliveryStore & DeliveryArchive
let redis: Redis
let counter: ReturnType<typeof createParkedCounter>

useDeliveries((opened) => {
  fixture = opened
  ;({ store, redis } = fixture)
  counter = createParkedCounter(redis)
})

const released = { bodies: 0, dropped: 0 }
beforeEach(() => Object.assign(released, { bodies: 0, dropped: 0 }))

/** A worker with these limits. */
const aWorker = (perSubscription: number, perTenant = 1_000) =>
  createDeliveryStore(
    redis,
    retention,
    {
      perSubscription,
      perTenant,
      released: ({ bodies, dropped }) => {
        released.bodies += bodies
        released.dropped += dropped
      },
    },
    unverified,
  )

const deliveriesOf = (subscriptionId: SubscriptionId, count: number, tenant = 'acme'): Delivery[] =>
  Array.from({ length: count }, () => deliveryOf({ tenant, subscriptionId }))

/** Parks deliveries; the result is sorted oldest first. */
async function park(worker: DeliveryStore, subscriptionId: SubscriptionId, count: number): Promise<Delivery[]> {
  const deliveries = deliveriesOf(subscriptionId, count)
  for (const delivery of deliveries) await worker.park(delivery, refused(delivery), 'rejected')
  return deliveries
}

const bodiesOf = (deliveries: readonly Delivery[]): Promise<number[]> =>
  redis[execute]((commands) => Promise.all(deliveries.map(({ deliveryId }) => commands.exists(bodyKey(deliveryId)))))
const listed = async (id: SubscriptionId): Promise<string[]> =>
  (await fixture.parked(id, { limit: 1_000 })).items.map(({ deliveryId }) => deliveryId).toReversed()
const idsOf = (deliveries: readonly Delivery[]): string[] => deliveries.map(({ deliveryId }) => deliveryId)
const noticesDue = (tenant = 'acme') => createLimitNotices(redis, 'parked').due(tenant)

test('within its limit a subscription loses nothing, and no notice is due', async () => {
  const id = newSubscriptionId()
  const parked = await park(aWorker(3), id, 3)
  expect(await bodiesOf(parked)).toEqual([1, 1, 1])
  expect(await counter.count(id)).toEqual({ count: 3, withoutBody: 0, dropped: 0, bodiesUntil: '0' })
  expect(await noticesDue()).toEqual([])
})

test('beyond the limit the oldest deliveries lose their body first and are dropped last', async () => {
  const id = newSubscriptionId()
  const parked = await park(aWorker(2), id, 7)
  expect(await bodiesOf(parked)).toEqual([0, 0, 0, 0, 0, 1, 1])
  expect(await listed(id)).toEqual(idsOf(parked.slice(3)))
  expect(await counter.count(id)).toMatchObject({ count: 4, withoutBody: 2, dropped: 3 })
  expect(released).toEqual({ bodies: 5, dropped: 3 })
})

test('a delivery without its body stays readable, but cannot be redelivered', async () => {
  const id = newSubscriptionId()
  const [oldest] = (await park(aWorker(1), id, 2)) as [Delivery, Delivery]
  expect(await store.find(oldest.deliveryId)).toMatchObject({
    state: 'parked',
    body: null,
    attempts: [{ status: 410 }],
  })
  expect(await store.beginRedelivery(oldest.deliveryId, { sender: 'a' })).toEqual({ kind: 'without-body' })
  expect(await store.find(oldest.deliveryId)).toMatchObject({ state: 'parked', run: 1 })
})

test('a late duplicate of a dropped delivery still finds it settled', async () => {
  const id = newSubscriptionId()
  const [dropped] = (await park(aWorker(1), id, 3)) as [Delivery, Delivery, Delivery]
  expect(await listed(id)).not.toContain(dropped.deliveryId)
  expect(await store.isSettled(dropped)).toBe(true)
  expect(await fixture.ttlOf(recordKey(dropped.deliveryId))).toBeLessThanOrEqual(retention.finishedRetentionMs)
})

test('several workers that park at the same time keep as many as the limit, release nothing twice and not too much', async () => {
  const id = newSubscriptionId()
  const workers = [aWorker(10), aWorker(10), aWorker(10)]
  const deliveries = deliveriesOf(id, 60)
  await Promise.all(deliveries.map((each, i) => workers[i % 3]?.park(each, refused(each), 'rejected')))
  expect(await counter.count(id)).toMatchObject({ count: 20, withoutBody: 10, dropped: 40 })
  expect((await bodiesOf(deliveries)).filter((exists) => exists === 1)).toHaveLength(10)
  expect(released.dropped).toBe(40)
})

test('after a limit was lowered, many deliveries are released in steps of bounded size', async () => {
  const id = newSubscriptionId()
  await redis[execute](async (commands) => {
    const entries = Array.from({ length: 2_100 }, (_, i) => [
      (Date.now() - HOUR_MS) * 1_000 + i,
      `${deliveryOf({ subscriptionId: id }).deliveryId}:1`,
    ]).flat()
    await commands.zadd(parkedKey(id), ...entries)
  })
  const worker = aWorker(50)
  await park(worker, id, 1)
  expect((await counter.count(id)).count).toBe(1_101)
  await park(worker, id, 4)
  expect(await counter.count(id)).toMatchObject({ count: 100, withoutBody: 50 })
})

test('a delivery that was redelivered and parked again keeps its new body', async () => {
  const id = newSubscriptionId()
  const [first] = (await park(aWorker(2), id, 2)) as [Delivery, Delivery]
  const begun = await store.beginRedelivery(first.deliveryId, { sender: 'a' })
  if (begun.kind !== 'begun') throw new Error(begun.kind)
  // The sender dies here, so the entry of run 1 stays in the list.
  const again = { ...first, run: 2, slot: 0, attempt: 1 }
  await aWorker(1).park(again, refused(again), 'rejected')
  expect(await bodiesOf([first])).toEqual([1])
  expect(await store.find(first.deliveryId)).toMatchObject({ state: 'parked', run: 2 })
  expect(await counter.count(id)).toMatchObject({ count: 2, dropped: 0 })
})

test('a large delivery takes a unit for each 8 KB, so that the limit bounds the memory, too', async () => {
  const id = newSubscriptionId()
  const worker = aWorker(10)
  const large = deliveriesOf(id, 5).map((each) => ({ ...each, body: Buffer.alloc(20_000, ' ') }))
  for (const delivery of large) await worker.park(delivery, refused(delivery), 'rejected')
  expect(await bodiesOf(large)).toEqual([0, 0, 1, 1, 1])
  // The largest that goes on gives its units back, and those without a body are kept as before.
  const [, , first] = large
  const begun = await store.beginRedelivery(first?.deliveryId ?? deliveryOf().deliveryId, { sender: 'a' })
  if (begun.kind === 'begun') await store.redeliverySent(begun.record)
  const small = await park(worker, id, 4)
  expect(await bodiesOf([...large.slice(3), ...small])).toEqual([1, 1, 1, 1, 1, 1])
  await park(worker, id, 1)
  expect(await bodiesOf(large)).toEqual([0, 0, 1, 0, 1])
  expect(await counter.count(id)).toMatchObject({ count: 9, withoutBody: 3, dropped: 0 })
})

test('of a tenant that creates, parks and deletes, the latest 10,000 subscriptions are known', async () => {
  const parking = (tenant: string) => redis[execute]((commands) => commands.zcard(parkingSubscriptionsKey(tenant)))
  for (const [tenant, others] of [
    ['many', 12_000],
    ['few', 10],
  ] as const) {
    const times = Array.from({ length: others }, (_, n) => [Date.now() - n, newSubscriptionId()]).flat()
    for (let at = 0; at < times.length; at += 2_000)
      await redis[execute]((commands) => commands.zadd(parkingSubscriptionsKey(tenant), ...times.slice(at, at + 2_000)))
    const delivery = deliveryOf({ tenant })
    await aWorker(10).park(delivery, refused(delivery), 'rejected')
  }
  expect([await parking('many'), await parking('few')]).toEqual([10_000, 11])
})

describe('a notice', () => {
  test('is due once after a limit was crossed, and again only after the list was well below it', async () => {
    const id = newSubscriptionId()
    const notices = createLimitNotices(redis, 'parked')
    const worker = aWorker(10)
    const parked = await park(worker, id, 11)
    const [crossing] = await noticesDue()
    expect(crossing).toMatchObject({ tenant: 'acme', subscriptionId: id, limit: 10, size: 11 })
    await park(worker, id, 1)
    expect(await noticesDue()).toEqual([crossing])
    if (crossing !== undefined) await notices.published(crossing)
    await park(worker, id, 1)
    expect(await noticesDue()).toEqual([])
    // All of them go on.
    for (const { deliveryId } of parked.slice(3)) {
      const begun = await store.beginRedelivery(deliveryId, { sender: 'a' })
      if (begun.kind === 'begun') await store.redeliverySent(begun.record)
    }
    await park(worker, id, 11)
    expect(await noticesDue()).toMatchObject([{ limit: 10 }])
  })
})

describe('of a tenant over its limit', () => {
  const bodiesIn = async (...ids: readonly SubscriptionId[]): Promise<number[]> => {
    const counts = await Promise.all(ids.map((id) => counter.count(id)))
    return counts.map(({ count, withoutBody }) => count - withoutBody)
  }

  test('the longest list gives way, even if it is not the one that grows; it gets one notice', async () => {
    const worker = aWorker(100, 12)
    const [idle, busy] = [newSubscriptionId(), newSubscriptionId()]
    await park(worker, idle, 10)
    await park(worker, busy, 2)
    expect(await bodiesIn(idle, busy)).toEqual([10, 2])
    await park(worker, busy, 3)
    expect(await bodiesIn(idle, busy)).toEqual([7, 5])
    expect(await noticesDue()).toMatchObject([{ subscriptionId: idle, limit: 9, size: 10 }])
    await park(worker, busy, 30)
    expect(await bodiesIn(idle, busy)).toEqual([6, 6])
  })

  test('lists that became shorter unnoticed lose nothing, and count as they are', async () => {
    const worker = aWorker(100, 12)
    const [emptied, small, busy] = [newSubscriptionId(), newSubscriptionId(), newSubscriptionId()]
    for (const each of await park(worker, emptied, 6)) {
      const begun = await store.beginRedelivery(each.deliveryId, { sender: 'a' })
      if (begun.kind === 'begun') await store.redeliverySent(begun.record)
    }
    await park(worker, small, 4)
    await park(worker, busy, 8)
    expect(await bodiesIn(small, busy)).toEqual([4, 8])
    expect(await noticesDue()).toEqual([])
  })

  test('many workers that park for many subscriptions keep exactly as many as the tenant may', async () => {
    const ids = Array.from({ length: 7 }, newSubscriptionId)
    const workers = [aWorker(20, 50), aWorker(20, 50)]
    const deliveries = ids.flatMap((id) => deliveriesOf(id, 15))
    await Promise.all(deliveries.map((each, i) => workers[i % 2]?.park(each, refused(each), 'rejected')))
    // A size that was recorded late is repaired by the next delivery.
    for (const id of ids) await park(aWorker(20, 50), id, 1)
    const bodies = await bodiesIn(...ids)
    expect(bodies.reduce((sum, count) => sum + count)).toBe(50)
    // A fair share is 7.
    expect(Math.min(...bodies)).toBeGreaterThanOrEqual(5)
    expect(await redis[execute]((commands) => commands.hgetall(totalKey('acme', 'parked')))).toEqual({ sum: '50' })
  })
})
