import { setTimeout as pause } from 'node:timers/promises'
import { type DeliveryId, newSubscriptionId, newToken } from '@switchhook/contracts'
import { eventually, silentLog } from '@switchhook/testkit'
import type { DeliveryStore } from '../deliveries/delivery-store.ts'
import { createHeldVisits } from '../deliveries/held-visits.ts'
import { deliveryOf, type TestDeliveries, useDeliveries } from '../deliveries/testing/deliveries.ts'
import { createHeldStore, type HeldStore } from '../held/held-store.ts'
import {
  clockKey,
  heldClaimsKey,
  heldKey,
  heldVisitsKey,
  inFlightKey,
  leasedKey,
  partitionOf,
  postedKey,
  visitsClockKey,
} from '../keys.ts'
import { execute, openRedis, type Redis, runScript } from '../redis/redis.ts'
import { createPermitStore, PERMIT_VALID_MS, type PermitStore } from './permit-store.ts'

const IN_FLIGHT_MS = 300
/** Longer than a POST takes on a busy machine. */
const LONG_IN_FLIGHT_MS = 1_500
/** A busy machine gives back many permits, because they are too old. */
const MAX_MS = 15_000
const id = newSubscriptionId()
const endpoint = { tenant: 'acme', subscriptionId: id }
let fixture: TestDeliveries
let deliveries: DeliveryStore
let held: HeldStore
let permits: PermitStore

useDeliveries((opened) => {
  fixture = opened
  deliveries = fixture.store
  held = createHeldStore(fixture.redis)
  permits = createPermitStore(fixture.redis, IN_FLIGHT_MS)
})

async function hold(dueInMs = 0): Promise<DeliveryId> {
  const delivery = deliveryOf({ subscriptionId: id })
  const next = { token: newToken(), postponed: 0 }
  await deliveries.settle(delivery, null, { state: 'held', slot: 0, next, dueInMs, visitInMs: 60_000 })
  return delivery.deliveryId
}

const wanted = (over: Partial<Parameters<PermitStore['take']>[1]> = {}) => ({
  permit: crypto.randomUUID(),
  delivery: deliveryOf({ subscriptionId: id }),
  isNew: false,
  ...over,
})

const ids = (entries: readonly { readonly deliveryId: DeliveryId }[]) => entries.map(({ deliveryId }) => deliveryId)

test.each([1, 4, 20])(
  'with %i workers, which come and go, never more than the limits are in flight or taken in any second',
  async (workers) => {
    const limited = { id, maxInFlight: 3, maxPerSecond: 12 }
    await Promise.all(Array.from({ length: 60 }, () => hold()))
    /** Published for any worker. */
    const passed: DeliveryId[] = []
    const written: number[] = []
    let [inFlight, most] = [0, 0]
    const open = () => openRedis({ url: fixture.server.redisUrl, log: silentLog, name: 'worker' })
    const untilMs = performance.now() + MAX_MS
    const isOver = (): boolean => written.length >= 36 || performance.now() > untilMs
    /** Makes POSTs. It dies with the permit of its third, if it is mortal. */
    const live = async (redis: Redis, isMortal: boolean): Promise<void> => {
      const own = createPermitStore(redis, LONG_IN_FLIGHT_MS)
      for (let posts = 0; !isOver(); ) {
        const permit = crypto.randomUUID()
        const deliveryId = passed.shift()
        const askedAtMs = performance.now()
        const isTaken = await own.take(limited, wanted({ permit, ...(deliveryId && { delivery: { deliveryId } }) }))
        // All workers together ask some thousand times a second. More would only take processor time.
        await (isTaken ? new Promise(setImmediate) : pause(Math.ceil(workers / 4)))
        // A permit that is too old by now is given back, like by a worker that stalled.
        if (!isTaken || performance.now() - askedAtMs >= PERMIT_VALID_MS) {
          if (isTaken) await own.reserve(limited, { most: 0, ended: permit })
          continue
        }
        written.push(performance.now())
        most = Math.max(most, ++inFlight)
        await Promise.all(Array.from({ length: 5 }, () => held.areDue([id])))
        inFlight -= 1
        if (isMortal && ++posts === 3) return
        passed.push(...ids((await own.reserve(limited, { most: 2, ended: permit })).entries))
      }
    }
    const work = async (_: unknown, at: number): Promise<void> => {
      // One lives for as long as the test, and in the place of each other one comes the next.
      while (!isOver()) {
        const redis = await open()
        await live(redis, at > 0)
        await redis.close()
      }
    }
    await Promise.all(Array.from({ length: workers }, work))
    expect(most).toBeLessThanOrEqual(3)
    expect(written.length).toBeGreaterThan(12)
    const times = written.toSorted((a, b) => a - b)
    const least = Math.min(...times.slice(12).map((time, i) => time - (times[i] ?? 0)))
    expect(least).toBeGreaterThan(1_000)
  },
  2 * MAX_MS,
)

test('a permit that was never ended expires', async () => {
  const limited = { id, maxInFlight: 1 }
  expect(await permits.take(limited, wanted())).toBe(true)
  expect(await permits.take(limited, wanted())).toBe(false)
  await eventually(async () => expect(await permits.take(limited, wanted())).toBe(true))
})

test('a permit that was never ended expires although others are taken meanwhile', async () => {
  const limited = { id, maxInFlight: 2 }
  await permits.take(limited, wanted())
  await eventually(async () => {
    const [first, second] = [crypto.randomUUID(), crypto.randomUUID()]
    expect(await permits.take(limited, wanted({ permit: first }))).toBe(true)
    const isExpired = await permits.take(limited, wanted({ permit: second }))
    for (const ended of [first, second]) await permits.reserve(limited, { most: 0, ended })
    expect(isExpired).toBe(true)
  })
})

describe('after a failover to a Redis whose clock is 20 s behind', () => {
  const BEHIND_MS = 20_000

  /** Moves the stored times forward, which is the same for the scripts as a clock that is behind. */
  async function failOver(): Promise<void> {
    await fixture.redis[execute](async (commands) => {
      for (const key of [heldKey(id), inFlightKey(id), postedKey(id)]) {
        for (const member of await commands.zrange(key, '0', '-1')) await commands.zincrby(key, BEHIND_MS, member)
        // While permits are taken, the lists do not expire.
        await commands.persist(key)
      }
      await commands.incrby(clockKey(id), BEHIND_MS)
    })
  }

  test.each([{ maxInFlight: 1 }, { maxPerSecond: 1 }])('a permit of %j is free again in time', async (limits) => {
    const limited = { id, ...limits }
    expect(await permits.take(limited, wanted())).toBe(true)
    await failOver()
    expect(await permits.take(limited, wanted())).toBe(false)
    await eventually(async () => expect(await permits.take(limited, wanted())).toBe(true), { timeoutMs: 5_000 })
  })

  test.each<[string, () => Promise<unknown>]>([
    ['passed on', () => permits.reserve({ id, maxInFlight: 9 }, { most: 9 }).then(({ entries }) => ids(entries))],
    ['received', () => held.receive(endpoint, 9, 30).then((found) => ids(found.map(({ delivery }) => delivery)))],
    [
      'released',
      () =>
        held
          .next(id)
          .then(() => held.due(id, { most: 9 }))
          .then(ids),
    ],
  ])('a held delivery is %s at once, and one that waits when its wait is over', async (_name, going) => {
    const beforeMs = Date.now()
    const [first, retry] = [await hold(), await hold(5_000)]
    const afterMs = Date.now()
    await failOver()
    expect(await going()).toEqual([first])
    const score = await fixture.redis[execute]((commands) => commands.zscore(heldKey(id), retry))
    expect(Number(score)).toBeGreaterThanOrEqual(beforeMs + 4_000)
    expect(Number(score)).toBeLessThanOrEqual(afterMs + 6_000)
  })

  test('a received delivery that is given back can be received at once', async () => {
    await hold()
    const [received] = await held.receive(endpoint, 1, 30)
    const { deliveryId, lease } = { deliveryId: received?.delivery.deliveryId, lease: received?.lease ?? '' }
    if (deliveryId === undefined) throw new Error('nothing is held')
    // What a message of before the failover says.
    const args = [deliveryId, lease, Date.now() + BEHIND_MS]
    await runScript(fixture.redis, 'held/release-leases', [heldKey(id), leasedKey(id)], args)
    expect(await held.receive(endpoint, 1, 30)).toHaveLength(1)
  })

  const part = partitionOf(endpoint.tenant)
  const failOverVisits = () =>
    fixture.redis[execute](async (commands) => {
      for (const key of [heldVisitsKey(part), heldClaimsKey(part)]) {
        for (const member of await commands.zrange(key, '0', '-1')) await commands.zincrby(key, BEHIND_MS, member)
      }
      await commands.incrby(visitsClockKey(part), BEHIND_MS)
    })

  test('a visit that was asked for, or whose worker died, is due in time', async () => {
    const visits = createHeldVisits(fixture.redis)
    await visits.askFor(endpoint, 0)
    await failOverVisits()
    expect(await visits.claimDue(9, 300)).toMatchObject([endpoint])
    await failOverVisits()
    await eventually(async () => expect(await visits.claimDue(9, 300)).toMatchObject([endpoint]), { timeoutMs: 5_000 })
  })

  test('a visit that is due is claimed at once, also by a script during which a millisecond ends', async () => {
    const visits = createHeldVisits(fixture.redis)
    for (let failovers = 0; failovers < 1_000; failovers++) {
      const other = { ...endpoint, subscriptionId: newSubscriptionId() }
      await visits.askFor(other, 0)
      await failOverVisits()
      expect(await visits.claimDue(9, 60_000)).toMatchObject([other])
      await fixture.redis[execute]((commands) =>
        commands.del(heldVisitsKey(part), heldClaimsKey(part), visitsClockKey(part)),
      )
    }
  })
})

test.each(['take', 'passOn'] as const)('the keys that %s writes expire', async (writes) => {
  const limited = { id, maxInFlight: 2, maxPerSecond: 2 }
  await hold()
  await (writes === 'take' ? permits.take(limited, wanted()) : permits.reserve(limited, { most: 1 }))
  const lifetimes = [await fixture.ttlOf(inFlightKey(id)), await fixture.ttlOf(postedKey(id))]
  expect(Math.min(...lifetimes)).toBeGreaterThan(0)
})

test('a permit replaces a former one of the same POST; a request that was written still counts in its second', async () => {
  const limited = { id, maxInFlight: 1, maxPerSecond: 2 }
  const [permit, second] = [crypto.randomUUID(), crypto.randomUUID()]
  expect(await permits.take(limited, wanted({ permit }))).toBe(true)
  expect(await permits.take(limited, wanted({ permit, former: permit }))).toBe(true)
  expect(await permits.take(limited, wanted({ permit: second, former: permit }))).toBe(true)
  expect(await permits.take(limited, wanted({ former: second }))).toBe(false)
})

test('as many held deliveries are passed on as permits are free, the longest held first, each once', async () => {
  const limited = { id, maxInFlight: 2 }
  const all = [await hold(-30), await hold(-20), await hold(-10)]
  const permit = crypto.randomUUID()
  await permits.take(limited, wanted({ permit }))
  const first = await permits.reserve(limited, { most: 10 })
  expect([ids(first.entries), first.nextInMs]).toEqual([all.slice(0, 1), null])
  expect((await permits.reserve(limited, { most: 10 })).entries).toEqual([])
  const second = await permits.reserve(limited, { most: 10, ended: permit })
  expect(ids(second.entries)).toEqual(all.slice(1, 2))
  // The permit is reserved for the delivery, and a duplicate of it needs another one.
  const delivery = { deliveryId: all[0] ?? deliveryOf().deliveryId }
  expect(await permits.take(limited, wanted({ delivery }))).toBe(true)
  expect(await permits.take(limited, wanted({ delivery }))).toBe(false)
  const third = await permits.reserve(limited, { most: 10, unused: all.slice(1, 2) })
  expect(ids(third.entries)).toEqual(all.slice(2))
  expect(await held.count(id)).toMatchObject({ count: 3, leased: 3 })
})

test('while deliveries are held, new ones wait behind them, and those that were passed on do not', async () => {
  const limited = { id, maxInFlight: 5 }
  const [deliveryId] = [await hold(), await hold()]
  expect(await permits.take(limited, wanted({ isNew: true }))).toBe(false)
  expect(await permits.take(limited, wanted({ delivery: { deliveryId } }))).toBe(true)
})

test('a full second says when the next permit is free, and the keys expire', async () => {
  const limited = { id, maxPerSecond: 2 }
  await hold()
  const beganMs = performance.now()
  for (let i = 0; i < 2; i++) await permits.take(limited, wanted())
  const { entries, nextInMs } = await permits.reserve(limited, { most: 10 })
  expect(entries).toEqual([])
  expect(nextInMs).toBeGreaterThan(1_000 - (performance.now() - beganMs))
  expect(nextInMs).toBeLessThanOrEqual(1_100)
  expect(await fixture.ttlOf(inFlightKey(id))).toBe(-2)
  expect(await fixture.ttlOf(postedKey(id))).toBeLessThanOrEqual(1_100)
  await eventually(async () => expect((await permits.reserve(limited, { most: 10 })).entries).toHaveLength(1))
})
