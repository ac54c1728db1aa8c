import { type Delivery, newSubscriptionId, type SubscriptionId } from '@switchhook/contracts'
import { bodyKey, parkedKey, recordKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import type { DeliveryArchive } from './delivery-archive.ts'
import type { DeliveryStore } from './delivery-store.ts'
import { createParkedCounter, createParkedLimitStore, type ParkedLimitStore } from './parked-limit-store.ts'
import { deliveryOf, refused, retention, type TestDeliveries, useDeliveries } from './testing/deliveries.ts'

let fixture: TestDeliveries
let store: DeliveryStore & DeliveryArchive
let redis: Redis
let limits: ParkedLimitStore
let counter: ReturnType<typeof createParkedCounter>

useDeliveries((opened) => {
  fixture = opened
  ;({ store, redis } = fixture)
  limits = createParkedLimitStore(redis, retention)
  counter = createParkedCounter(redis)
})

const trim = (subscriptionId: SubscriptionId, allowance: Parameters<ParkedLimitStore['trim']>[1]) =>
  limits.trim({ tenant: 'acme', subscriptionId }, allowance)

/** Parks deliveries; the result is sorted oldest first. */
async function park(subscriptionId: SubscriptionId, count: number): Promise<Delivery[]> {
  const deliveries = Array.from({ length: count }, () => deliveryOf({ subscriptionId }))
  for (const delivery of deliveries) {
    await limits.register(delivery)
    await store.park(delivery, refused(delivery), 'rejected')
  }
  return deliveries
}

const bodiesOf = (deliveries: readonly Delivery[]): Promise<number[]> =>
  redis[run]((commands) => Promise.all(deliveries.map(({ deliveryId }) => commands.exists(bodyKey(deliveryId)))))
const listed = async (id: SubscriptionId): Promise<string[]> =>
  (await store.parked(id, { limit: 1_000 })).items.map(({ deliveryId }) => deliveryId).toReversed()
const idsOf = (deliveries: readonly Delivery[]): string[] => deliveries.map(({ deliveryId }) => deliveryId)

test('within its limit a subscription loses nothing, and there is no crossing', async () => {
  const id = newSubscriptionId()
  const parked = await park(id, 3)
  expect(await trim(id, { whole: 3, total: 6 })).toMatchObject({ bodies: 0, dropped: 0, isDone: true })
  expect(await bodiesOf(parked)).toEqual([1, 1, 1])
  expect(await counter.count(id)).toEqual({ count: 3, withoutBody: 0, dropped: 0, bodiesUntil: '0' })
  expect(await limits.unreported(id)).toBeUndefined()
})

test('beyond the limit the oldest deliveries lose their body first and are dropped last', async () => {
  const id = newSubscriptionId()
  const parked = await park(id, 7)
  expect(await trim(id, { whole: 2, total: 5 })).toMatchObject({ bodies: 3, dropped: 2, isDone: true })
  expect(await bodiesOf(parked)).toEqual([0, 0, 0, 0, 0, 1, 1])
  expect(await listed(id)).toEqual(idsOf(parked.slice(2)))
  expect(await counter.count(id)).toMatchObject({ count: 5, withoutBody: 3, dropped: 2 })
})

test('a delivery without its body stays readable, but cannot be redelivered', async () => {
  const id = newSubscriptionId()
  const [oldest] = (await park(id, 2)) as [Delivery, Delivery]
  await trim(id, { whole: 1, total: 2 })
  expect(await store.find(oldest.deliveryId)).toMatchObject({
    state: 'parked',
    body: null,
    attempts: [{ status: 410 }],
  })
  expect(await store.beginRedelivery(oldest.deliveryId, { sender: 'a' })).toEqual({ kind: 'without-body' })
  expect(await store.find(oldest.deliveryId)).toMatchObject({ state: 'parked', run: 1 })
})

test('a late copy of a dropped delivery still finds it settled', async () => {
  const id = newSubscriptionId()
  const [dropped] = (await park(id, 3)) as [Delivery, Delivery, Delivery]
  await trim(id, { whole: 1, total: 2 })
  expect(await listed(id)).not.toContain(dropped.deliveryId)
  expect(await store.isSettled(dropped)).toBe(true)
  expect(await fixture.ttlOf(recordKey(dropped.deliveryId))).toBeLessThanOrEqual(retention.settledRetentionMs)
})

test('trimming twice or by several workers at the same time releases nothing twice and not too much', async () => {
  const id = newSubscriptionId()
  const parked = await park(id, 40)
  const allowance = { whole: 10, total: 20 }
  const trimmed = await Promise.all([trim(id, allowance), trim(id, allowance), trim(id, allowance)])
  expect(trimmed.reduce((sum, { dropped }) => sum + dropped, 0)).toBe(20)
  expect(await trim(id, allowance)).toMatchObject({ bodies: 0, dropped: 0, isDone: true })
  expect(await listed(id)).toEqual(idsOf(parked.slice(20)))
  expect(await bodiesOf(parked)).toEqual(parked.map((_, i) => (i < 30 ? 0 : 1)))
  expect(await counter.count(id)).toMatchObject({ count: 20, withoutBody: 10, dropped: 20 })
})

test('many deliveries are trimmed in steps of bounded size', async () => {
  const id = newSubscriptionId()
  await redis[run](async (commands) => {
    const entries = Array.from({ length: 600 }, (_, i) => [
      i + 1,
      `${deliveryOf({ subscriptionId: id }).deliveryId}:1`,
    ]).flat()
    await commands.zadd(parkedKey(id), ...entries)
  })
  expect((await trim(id, { whole: 50, total: 100 })).isDone).toBe(false)
  for (let steps = 0; !(await trim(id, { whole: 50, total: 100 })).isDone; steps++) expect(steps).toBeLessThan(10)
  expect(await counter.count(id)).toMatchObject({ count: 100, withoutBody: 50 })
})

test('a delivery that was redelivered and parked again keeps its new body', async () => {
  const id = newSubscriptionId()
  const [first] = (await park(id, 2)) as [Delivery, Delivery]
  const begun = await store.beginRedelivery(first.deliveryId, { sender: 'a' })
  if (begun.kind !== 'begun') throw new Error(begun.kind)
  // The sender dies here, so the entry of run 1 stays in the list.
  const again = { ...first, run: 2, slot: 0, attempt: 1 }
  await store.park(again, refused(again), 'rejected')
  await trim(id, { whole: 2, total: 2 })
  expect(await bodiesOf([first])).toEqual([1])
  expect(await store.find(first.deliveryId)).toMatchObject({ state: 'parked', run: 2 })
  expect(await counter.count(id)).toMatchObject({ count: 2, dropped: 0 })
})

test('a full Redis can be trimmed', async () => {
  const id = newSubscriptionId()
  const parked = await park(id, 6)
  await fixture.server.limitMemory(1)
  try {
    expect(await trim(id, { whole: 4, total: 6 })).toMatchObject({ bodies: 2, dropped: 0, isDone: true })
    expect(await trim(id, { whole: 1, total: 4 })).toMatchObject({ bodies: 3, dropped: 2, isDone: true })
    const crossing = await limits.unreported(id)
    if (crossing !== undefined) await limits.markReported(id, crossing)
    expect(await limits.unreported(id)).toBeUndefined()
  } finally {
    await fixture.server.limitMemory(0)
  }
  expect(await bodiesOf(parked)).toEqual([0, 0, 0, 0, 0, 1])
})

test('a crossing is reported once, and again only after the count was well below the limit', async () => {
  const id = newSubscriptionId()
  const allowance = { whole: 10, total: 20 }
  const parked = await park(id, 11)
  await trim(id, allowance)
  const crossing = await limits.unreported(id)
  expect(crossing).toMatchObject({ limit: 10, count: 11 })
  await park(id, 1)
  await trim(id, allowance)
  expect(await limits.unreported(id)).toEqual(crossing)
  if (crossing !== undefined) await limits.markReported(id, crossing)
  await park(id, 1)
  await trim(id, allowance)
  expect(await limits.unreported(id)).toBeUndefined()
  for (const { deliveryId } of parked.slice(3)) {
    const begun = await store.beginRedelivery(deliveryId, { sender: 'a' })
    if (begun.kind === 'begun') await store.redeliverySent(begun.record)
  }
  await trim(id, allowance)
  await park(id, 11)
  await trim(id, allowance)
  expect(await limits.unreported(id)).toMatchObject({ limit: 10 })
})

test("a tenant's counts include deleted subscriptions and those that an earlier version did not register", async () => {
  const [deleted, existing] = [newSubscriptionId(), newSubscriptionId()]
  await park(deleted, 2)
  const early = deliveryOf({ subscriptionId: existing })
  await store.park(early, refused(early), 'rejected')
  await redis[run]((commands) => commands.hset('sh:{t:acme}:subscriptions', existing, '{}'))
  expect(await limits.counts('acme')).toEqual(
    new Map([
      [deleted, 2],
      [existing, 1],
    ]),
  )
  expect(await limits.counts('globex')).toEqual(new Map())
})

describe("a tenant's room", () => {
  const allowed = { perSubscription: 10, perTenant: 1_000 }
  const spend = (parked: number, change = {}) => limits.spend('acme', parked, { ...allowed, ...change })
  const counted = (room: number, tookMs = 0) => limits.counted('acme', allowed, { whole: 10, room, tookMs })

  test('is counted by the first worker that parks, while the others wait for its result', async () => {
    expect(await spend(3)).toEqual({ whole: undefined, isCountDue: true })
    expect(await spend(2)).toEqual({ whole: undefined, isCountDue: false })
    await counted(100)
    expect(await spend(2)).toEqual({ whole: 10, isCountDue: false })
  })

  test('is counted again when as many deliveries were parked as the tenant had room for, those during the count included', async () => {
    await spend(1)
    await spend(40)
    await counted(100)
    expect(await spend(60)).toMatchObject({ isCountDue: false })
    expect(await spend(1)).toMatchObject({ isCountDue: true })
  })

  test('is counted again after a rest, and by another worker if one dies while it counts', async () => {
    await spend(1)
    await counted(0, 60_000)
    expect(await spend(1)).toEqual({ whole: 10, isCountDue: false })
    await redis[run]((commands) => commands.hset('sh:{t:acme}:parked-room', 'notBefore', Date.now()))
    expect(await spend(0)).toMatchObject({ isCountDue: true })
    await redis[run]((commands) => commands.hset('sh:{t:acme}:parked-room', 'notBefore', Date.now()))
    expect(await spend(0)).toMatchObject({ isCountDue: true })
    expect(await fixture.ttlOf('sh:{t:acme}:parked-room')).toBeGreaterThan(0)
  })

  test.each([{ perSubscription: 100 }, { perTenant: 500 }])(
    'is counted again with other limits: %j',
    async (change) => {
      await spend(1)
      await counted(100)
      expect(await spend(1, change)).toEqual({ whole: undefined, isCountDue: true })
      expect(await spend(1, change)).toEqual({ whole: undefined, isCountDue: false })
    },
  )

  test('is counted again by one worker if a list is longer than its share, although there is room left', async () => {
    const ask = () => limits.spend('acme', 0, allowed, true)
    await spend(1)
    await counted(100)
    expect(await ask()).toEqual({ whole: 10, isCountDue: true })
    expect(await ask()).toEqual({ whole: 10, isCountDue: false })
    await counted(5)
    expect(await spend(5)).toEqual({ whole: 10, isCountDue: false })
    expect(await spend(1)).toMatchObject({ isCountDue: true })
  })

  test('is known and noted while Redis is full', async () => {
    await fixture.server.limitMemory(1)
    try {
      expect(await spend(1)).toMatchObject({ isCountDue: true })
      await counted(5)
      expect(await spend(1)).toMatchObject({ whole: 10, isCountDue: false })
    } finally {
      await fixture.server.limitMemory(0)
    }
  })
})

test('a count finds every list of many subscriptions', async () => {
  const ids = Array.from({ length: 1_000 }, newSubscriptionId)
  await redis[run]((commands) =>
    Promise.all(
      ids.map(async (id, i) => {
        if (i % 2 === 0) await commands.zadd('sh:{t:acme}:parked', 1, id)
        else await commands.hset('sh:{t:acme}:subscriptions', id, '{}')
        if (i % 3 === 0) await commands.zadd(parkedKey(id), 1, `${deliveryOf().deliveryId}:1`)
      }),
    ),
  )
  expect([...(await limits.counts('acme')).keys()].toSorted()).toEqual(ids.filter((_, i) => i % 3 === 0).toSorted())
})
