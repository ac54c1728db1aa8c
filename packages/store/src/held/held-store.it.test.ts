import { type Delivery, type DeliveryId, newSubscriptionId, newToken } from '@switchhook/contracts'
import { eventually } from '@switchhook/testkit'
import type { DeliveryArchive } from '../deliveries/delivery-archive.ts'
import type { DeliveryStore, Settlement } from '../deliveries/delivery-store.ts'
import { createHeldVisits, type HeldVisits } from '../deliveries/held-visits.ts'
import {
  acknowledged,
  delivered,
  deliveryOf,
  failed,
  HOUR_MS,
  postOf,
  retention,
  type TestDeliveries,
  useDeliveries,
} from '../deliveries/testing/deliveries.ts'
import {
  heldClaimsKey,
  heldExtrasKey,
  heldKey,
  heldMessageKey,
  heldVisitsKey,
  leasedKey,
  parkingKey,
  partitionOf,
  recordKey,
  reportedKey,
} from '../keys.ts'
import { execute, runScript } from '../redis/redis.ts'
import { leaseTimes } from './held-leases.ts'
import { createHeldStore, type HeldStore } from './held-store.ts'

const id = newSubscriptionId()
const endpoint = { tenant: 'acme', subscriptionId: id }
let fixture: TestDeliveries
let deliveries: DeliveryStore & DeliveryArchive
let held: HeldStore
let visits: HeldVisits

useDeliveries((opened) => {
  fixture = opened
  deliveries = fixture.store
  held = createHeldStore(fixture.redis)
  visits = createHeldVisits(fixture.redis)
})

const holding = (delivery: Delivery, over: Partial<Extract<Settlement, { state: 'held' }>> = {}) =>
  ({
    state: 'held',
    slot: delivery.slot,
    next: { token: newToken(), postponed: delivery.postponed ?? 0 },
    dueInMs: 0,
    visitInMs: 60_000,
    ...over,
  }) as const

async function hold(delivery = deliveryOf({ subscriptionId: id }), over = {}): Promise<Delivery> {
  await deliveries.settle(delivery, null, holding(delivery, over))
  return delivery
}
const idsOf = (some: readonly ({ readonly delivery: Delivery } | undefined)[]): (DeliveryId | undefined)[] =>
  some.map((each) => each?.delivery.deliveryId)

const REJECTED = { durationMs: 5, outcome: { kind: 'answered', status: 422 } } as const

/** Receives one delivery, and its lease as a client names it. */
async function receiveOne(leaseSeconds = 30) {
  const [received] = await held.receive(endpoint, 1, leaseSeconds)
  if (received === undefined) throw new Error('nothing is held')
  return { ...received, given: { deliveryId: received.delivery.deliveryId, lease: received.lease } }
}

async function messageOf({ deliveryId }: Delivery) {
  const [message] = await held.read([deliveryId])
  if (message === undefined) throw new Error('it is not held')
  return message
}

const bytesOf = ({ deliveryId }: Delivery): Promise<number> =>
  fixture.redis[execute]((commands) => commands.strlen(recordKey(deliveryId)))

async function nextVisitAtMs(): Promise<number> {
  const [, score] = await fixture.redis[execute]((commands) =>
    commands.zrange(heldVisitsKey(partitionOf('acme')), '0', '0', 'WITHSCORES'),
  )
  return Number(score)
}

async function claimOne(leaseMs = 60_000) {
  const [visit] = await visits.claimDue(10, leaseMs)
  if (visit === undefined) throw new Error('no visit is due')
  return visit
}

test('a held delivery is received as it was, byte for byte, and its record says so', async () => {
  const delivery = await hold(deliveryOf({ subscriptionId: id, attempt: 2, slot: 2, postponed: 1, token: 'a', run: 2 }))
  const [received, ...others] = await held.receive(endpoint, 10, 30)
  expect(received?.delivery).toEqual({ ...delivery, token: expect.any(String) as string })
  expect(others).toEqual([])
  expect(await deliveries.find(delivery.deliveryId)).toMatchObject({ state: 'held', slot: 2, nextAttemptAt: null })
  const { beganAtMs, endsAtMs } = leaseTimes(received?.lease ?? '')
  expect(endsAtMs - beganAtMs).toBe(30_000)
})

test('a request receives a mebibyte of bodies, or one larger delivery, and leases nothing else; small ones are not counted', async () => {
  const hundred = { tenant: 'acme', subscriptionId: newSubscriptionId() }
  for (let n = 0; n < 100; n++) await hold(deliveryOf({ ...hundred, body: Buffer.alloc(600) }))
  expect(await held.receive(hundred, 100, 30)).toHaveLength(100)

  const sizes = [2_000_000, 262_144, 262_144, 262_144, 262_144, 600]
  const large: Delivery[] = []
  for (const [at, size] of sizes.entries()) {
    const delivery = deliveryOf({ subscriptionId: id, body: Buffer.alloc(size) })
    large.push(await hold(delivery, { dueInMs: at - sizes.length }))
  }
  const received = []
  for (let request = 0; request < 3; request++) received.push(idsOf(await held.receive(endpoint, 100, 30)))
  const ids = large.map(({ deliveryId }) => deliveryId)
  expect(received).toEqual([ids.slice(0, 1), ids.slice(1, 5), ids.slice(5)])
})

test('what a request leaves, because its answer is full, is not leased', async () => {
  for (let n = 0; n < 6; n++) await hold(deliveryOf({ subscriptionId: id, body: Buffer.alloc(262_144) }))
  expect(await held.receive(endpoint, 100, 30)).toHaveLength(4)
  expect(await held.count(id)).toMatchObject({ count: 6, leased: 4 })
})

test('the message that was held is settled, also the first of a run, and the held one is not', async () => {
  const delivery = await hold()
  expect(await deliveries.isSettled(delivery)).toBe(true)
  const [received] = await held.receive(endpoint, 1, 30)
  expect(await deliveries.isSettled(received?.delivery ?? delivery)).toBe(false)
})

test('those due for longest are received first, each once, and none before it is due', async () => {
  const last = await hold()
  const first = await hold(undefined, { dueInMs: -60_000 })
  await hold(undefined, { dueInMs: 60_000 })
  expect(idsOf(await held.receive(endpoint, 1, 30))).toEqual([first.deliveryId])
  expect(await held.areDue([id, newSubscriptionId()])).toEqual([true, false])
  expect(idsOf(await held.receive(endpoint, 10, 30))).toEqual([last.deliveryId])
  expect(await held.receive(endpoint, 10, 30)).toEqual([])
  expect(await held.areDue([id])).toEqual([false])
})

test('a released delivery can be received again; its former lease is lost', async () => {
  await hold()
  const { given, delivery } = await receiveOne()
  expect(await held.release(id, [{ ...given, lease: '1' }, given, given])).toEqual([false, true, false])
  const again = await receiveOne(31)
  expect(again.delivery).toEqual(delivery)
  const reported = await held.report(id, [
    { ...given, ...REJECTED },
    { ...again.given, ...REJECTED },
  ])
  expect(reported).toMatchObject([{ deliveryId: delivery.deliveryId, token: delivery.token, attempt: 1 }])
})

test('a released delivery gets its place back, so the oldest still come first', async () => {
  const oldest = await hold(undefined, { dueInMs: -60_000 })
  await hold(undefined, { dueInMs: -30_000 })
  const before = await held.count(id)
  const { given } = await receiveOne()
  await held.release(id, [given])
  expect(await held.count(id)).toEqual(before)
  expect((await receiveOne()).given.deliveryId).toBe(oldest.deliveryId)
})

test('an outcome is stored under another lease until that is removed, and the former is lost', async () => {
  await hold()
  const { given } = await receiveOne()
  const [reported, ...others] = await held.report(id, [{ ...given, ...REJECTED }])
  expect(others).toEqual([])
  const renewed = { deliveryId: given.deliveryId, score: reported?.lease ?? '' }
  const former = { deliveryId: given.deliveryId, score: given.lease }
  expect(renewed.score).not.toBe(former.score)
  expect(await held.report(id, [{ ...given, ...REJECTED }])).toEqual([])
  expect(await held.release(id, [given])).toEqual([false])
  await held.remove(id, 'leased', [former])
  expect(await held.readLeases(id, [renewed, former])).toEqual([{ isHeld: true, reported }, { isHeld: false }])
  expect(await held.count(id)).toMatchObject({ leased: 1 })
  const { redis } = fixture
  const later = createHeldStore({ ...redis, nowMs: async () => (await redis.nowMs()) + 31_000 })
  expect([await held.lapsed(id, 10), await later.lapsed(id, 10)]).toEqual([[], [renewed]])
  await held.remove(id, 'leased', [renewed])
  expect(await held.readLeases(id, [renewed])).toEqual([{ isHeld: false }])
  expect(await held.count(id)).toMatchObject({ leased: 0 })
})

test('what is no lease reports nothing', async () => {
  await hold()
  const { given } = await receiveOne()
  expect(await held.report(id, [{ ...given, lease: 'none', ...REJECTED }])).toEqual([])
})

test('a lease that ended is listed as lapsed and cannot be taken; it is not received by another client meanwhile', async () => {
  await hold()
  const { deliveryId, lease } = (await receiveOne(1)).given
  expect(await held.lapsed(id, 10)).toEqual([])
  await eventually(async () => expect(await held.lapsed(id, 10)).toEqual([{ deliveryId, score: lease }]))
  expect(await held.report(id, [{ deliveryId, lease, ...REJECTED }])).toEqual([])
  expect(await held.receive(endpoint, 1, 1)).toEqual([])
  expect(leaseTimes(lease).endsAtMs - leaseTimes(lease).beganAtMs).toBe(1_000)
})

test('a delivery that has gone on is dropped from the list, and its message is gone with its settlement', async () => {
  const delivery = await hold()
  const message = await messageOf(delivery)
  await deliveries.settle(message.delivery, delivered(delivery), acknowledged)
  expect(await held.read([delivery.deliveryId])).toEqual([undefined])
  expect(await fixture.ttlOf(heldMessageKey(delivery.deliveryId))).toBe(-2)
  expect(await held.receive(endpoint, 10, 30)).toEqual([])
  expect(await held.count(id)).toEqual({ count: 0, leased: 0, oldestAt: null })
})

test('parking a held delivery ends its message', async () => {
  const delivery = await hold()
  const message = await messageOf(delivery)
  await deliveries.park(message.delivery, null, 'exhausted')
  expect(await held.read([delivery.deliveryId])).toEqual([undefined])
  expect(await deliveries.find(delivery.deliveryId)).toMatchObject({ state: 'parked', body: delivery.body })
})

test('a failed attempt of a leased delivery is held for its next slot, and ends the lease', async () => {
  const delivery = await hold()
  const { given, ...received } = await receiveOne()
  await deliveries.settle(received.delivery, failed(delivery), holding(received.delivery, { slot: 1, dueInMs: 10_000 }))
  expect(await held.report(id, [{ ...given, ...REJECTED }])).toEqual([])
  expect(await held.count(id)).toMatchObject({ count: 1, leased: 0 })
  const message = await messageOf(delivery)
  expect(message.delivery).toMatchObject({ slot: 1, attempt: 1 })
  expect(await deliveries.find(delivery.deliveryId)).toMatchObject({
    state: 'held',
    slot: 1,
    attempts: [{ attempt: 1 }],
    nextAttemptAt: new Date(message.dueAtMs).toISOString(),
  })
})

test('of attempts that lapse again and again, a record keeps the latest five, and every other attempt', async () => {
  const first = await hold()
  let [outcome, bytes]: ['lapsed' | 'timeout', number] = ['timeout', 0]
  for (let n = 0; n < 20; n++) {
    const { delivery } = await messageOf(first)
    await deliveries.settle(delivery, postOf(delivery, outcome, null), holding(delivery))
    outcome = n === 9 ? 'timeout' : 'lapsed'
    if (n === 12) bytes = await bytesOf(first)
  }
  const { attempts = [] } = (await deliveries.find(first.deliveryId)) ?? {}
  expect(attempts.map((each) => each.attempt)).toEqual([1, 11, 16, 17, 18, 19, 20])
  expect((await bytesOf(first)) - bytes).toBeLessThan(30)
})

test('an entry that was listed again since it was read is not removed', async () => {
  const delivery = await hold()
  const entries = await held.due(id, { most: 10 })
  // The delivery was published, fell due while its subscription was paused again, and is held again in the same millisecond.
  const args = [10, 10, 1_000, retention.parkedRetentionMs, delivery.deliveryId, entries[0]?.score ?? '', 0, 0]
  await runScript(fixture.redis, 'held/add-held', [heldKey(id), leasedKey(id), parkingKey(id), heldExtrasKey(id)], args)
  await held.remove(id, 'held', entries)
  expect(await held.count(id)).toMatchObject({ count: 1 })
  await held.remove(id, 'held', await held.due(id, { most: 10 }))
  expect(await held.count(id)).toMatchObject({ count: 0 })
})

test('duplicates of a message are held once, and a duplicate of a held message lists it again if its entry is missing', async () => {
  const delivery = await hold()
  await hold(delivery)
  expect(await held.count(id)).toMatchObject({ count: 1 })
  await held.remove(id, 'held', await held.due(id, { most: 10 }))
  await deliveries.listAgain(delivery)
  expect(idsOf(await held.receive(endpoint, 10, 30))).toEqual([delivery.deliveryId])
  await deliveries.listAgain(delivery)
  expect(await held.count(id)).toMatchObject({ count: 1, leased: 1 })
  await deliveries.listAgain(deliveryOf({ subscriptionId: id }))
  expect(await held.count(id)).toMatchObject({ count: 1 })
})

test('a late duplicate does not list a delivery again that was published; one that is held again keeps its message', async () => {
  const delivery = await hold()
  const { delivery: published } = await messageOf(delivery)
  await held.forget([published])
  await held.remove(id, 'held', await held.due(id, { most: 10 }))
  await deliveries.listAgain(delivery)
  expect(await held.count(id)).toMatchObject({ count: 0 })
  expect(await deliveries.isSettled(published)).toBe(false)
  await hold(published)
  await held.forget([published])
  expect(idsOf(await held.receive(endpoint, 10, 30))).toEqual([delivery.deliveryId])
})

test('an entry is listed no longer than its message is kept, although others are held meanwhile', async () => {
  await hold(undefined, { dueInMs: -retention.parkedRetentionMs - 1_000 })
  const { deliveryId } = await hold(undefined, { dueInMs: -retention.parkedRetentionMs + 60_000 })
  await hold()
  expect((await held.due(id, { most: 10 }))[0]).toMatchObject({ deliveryId })
  expect(await held.count(id)).toMatchObject({ count: 2 })
})

test.each([-1, 1])('a worker whose clock is wrong by %i d holds deliveries for as long as others do', async (days) => {
  const realNow = Date.now
  const onWrongClock = async <T>(action: () => Promise<T>): Promise<T> => {
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => realNow() + days * 24 * HOUR_MS)
    try {
      return await action()
    } finally {
      clock.mockRestore()
    }
  }
  const [due, later] = await onWrongClock(async () => [
    await hold(undefined, { visitInMs: HOUR_MS }),
    await hold(undefined, { visitInMs: HOUR_MS, dueInMs: 60_000 }),
  ])
  const { dueAtMs } = await messageOf(later)
  expect(Math.abs(dueAtMs - Date.now() - 60_000)).toBeLessThan(30_000)
  expect(await deliveries.find(later.deliveryId)).toMatchObject({ nextAttemptAt: new Date(dueAtMs).toISOString() })
  expect(idsOf(await held.receive(endpoint, 10, 30))).toEqual([due.deliveryId])
  expect(await visits.claimDue(10, 60_000)).toEqual([])
  const { nowMs, lapsesAtMs } = await onWrongClock(() => held.next(id))
  expect((lapsesAtMs ?? 0) - nowMs).toBeLessThanOrEqual(30_000)
  expect((lapsesAtMs ?? 0) - nowMs).toBeGreaterThan(0)
  await onWrongClock(() => held.visitSoon(endpoint))
  expect(await visits.claimDue(10, 60_000)).toHaveLength(1)
})

test('a visit is claimed by one worker, again after its lease, and not before it is due', async () => {
  await visits.askFor(endpoint, 60_000)
  expect(await visits.claimDue(10, 60_000)).toEqual([])
  await held.visitSoon(endpoint)
  await visits.askFor(endpoint, 60_000)
  const visit = await claimOne(50)
  expect(visit).toMatchObject(endpoint)
  await eventually(async () => expect(await visits.claimDue(10, 60_000)).toHaveLength(1))
  expect(await visits.claimDue(10, 60_000)).toEqual([])
})

test('a visit that was asked for during another one follows it; otherwise a visit that ended leaves nothing', async () => {
  const installation = { tenant: null, subscriptionId: id }
  await held.visitSoon(installation)
  const visit = await claimOne()
  await held.visitSoon(installation)
  expect(await visits.claimDue(10, 60_000)).toEqual([])
  await visits.finish(visit, null)
  const again = await claimOne()
  expect(again).toMatchObject(installation)
  await visits.finish(again, null)
  expect(await fixture.ttlOf(heldVisitsKey(partitionOf(null)))).toBe(-2)
})

test('a visit that was asked for during another one is not forgotten at its end, and comes at its time', async () => {
  // The visit has found nothing; then a delivery is held, and no one else asks.
  for (const nextInMs of [null, 600_000]) {
    await held.visitSoon(endpoint)
    const visit = await claimOne(30_000)
    const askedAtMs = Date.now()
    await visits.askFor(endpoint, 60_000)
    await visits.askFor(endpoint, 120_000)
    await visits.finish(visit, nextInMs)
    const leftMs = (await nextVisitAtMs()) - askedAtMs
    expect(leftMs).toBeGreaterThanOrEqual(59_990)
    expect(leftMs).toBeLessThan(90_000)
  }
  // A client that receives asks for a visit after its lease, which is later than the lease of another client ends.
  await held.visitSoon(endpoint)
  const visit = await claimOne(30_000)
  await visits.askFor(endpoint, 20_000)
  await visits.finish(visit, 1_000)
  expect((await nextVisitAtMs()) - Date.now()).toBeLessThanOrEqual(1_000)
  // It is not remembered for a later visit.
  await held.visitSoon(endpoint)
  await visits.finish(await claimOne(30_000), null)
  expect(await visits.claimDue(10, 60_000)).toEqual([])
  expect(await fixture.ttlOf(heldVisitsKey(partitionOf('acme')))).toBe(-2)
})

test('a visit that ends after its claim stays due: what was asked for meanwhile is not forgotten', async () => {
  await held.visitSoon(endpoint)
  const visit = await claimOne(1)
  await eventually(async () => expect(await fixture.ttlOf(heldClaimsKey(partitionOf('acme')))).toBe(-2))
  await visits.askFor(endpoint, 60_000)
  await visits.finish(visit, null)
  expect(await visits.claimDue(10, 60_000)).toHaveLength(1)
})

test('the visits of a worker that died do not keep another worker from those that fall due later', async () => {
  const those = Array.from({ length: 50 }, () => ({ tenant: 'acme', subscriptionId: newSubscriptionId() }))
  for (const each of those) await held.visitSoon(each)
  expect(await visits.claimDue(50, 30_000)).toHaveLength(50)
  // Their subscriptions go on holding, and ask for visits that are due before that of another one.
  for (const each of those) await visits.askFor(each, -1_000)
  await held.visitSoon(endpoint)
  expect(await visits.claimDue(50, 30_000)).toMatchObject([endpoint])
})

test.each([
  ['is paused', 60_000, 2_000],
  ['is received by clients', 600_000, 20_000],
  ['has limits', 100, 100],
])(
  'what a worker holds because its subscription %s is visited soon, if it is the first',
  async (_is, visitInMs, firstInMs) => {
    // The worker has read the subscription. Then it is changed, and the visit that follows finds nothing.
    await held.visitSoon(endpoint)
    const visit = await claimOne()
    expect(await held.next(id)).toMatchObject({ dueAtMs: null, lapsesAtMs: null })
    await visits.finish(visit, null)
    await hold(undefined, { visitInMs })
    expect((await nextVisitAtMs()) - Date.now()).toBeLessThanOrEqual(firstInMs)
    // While there is more traffic, it is not visited more often than the visits want.
    await visits.askFor(endpoint, 0)
    await visits.finish(await claimOne(), 3_600_000)
    const beforeMs = Date.now()
    await hold(undefined, { visitInMs })
    expect((await nextVisitAtMs()) - beforeMs).toBeGreaterThanOrEqual(visitInMs - 1)
  },
)

test('every key of a held delivery has a lifetime, and the lists keep theirs while deliveries move', async () => {
  const delivery = await hold()
  const { given } = await receiveOne()
  const keys = [heldMessageKey(delivery.deliveryId), recordKey(delivery.deliveryId)]
  const [reported] = await held.report(id, [{ ...given, ...REJECTED }])
  for (const key of [...keys, leasedKey(id), reportedKey(id)]) {
    expect(retention.parkedRetentionMs - (await fixture.ttlOf(key))).toBeLessThan(60_000)
  }
  await held.release(id, [{ ...given, lease: reported?.lease ?? '' }])
  expect(retention.parkedRetentionMs - (await fixture.ttlOf(heldKey(id)))).toBeLessThan(60_000)
  // Received deliveries are visited when their lease ends, even if the client has died.
  expect((await nextVisitAtMs()) - Date.now()).toBeLessThan(32_000)
})
