import { type Delivery, newSubscriptionId, type SubscriptionId, Unavailable } from '@switchhook/contracts'
import { aDelivery } from '../testing/deliveries.ts'
import { type LimiterDeps, startLimiter } from './limiter.ts'

/** The tenant has to be counted at every sweep. */
const DUE = { spend: async () => ({ whole: undefined, isCountDue: true }), counted: async () => {} }

/** A store that counts like the real one and releases at most 250 deliveries per call. */
function aWorld(change: Partial<LimiterDeps> = {}) {
  const parked = new Map<SubscriptionId, number>()
  const steps: string[] = []
  const notices: SubscriptionId[] = []
  const lost = { bodies: 0, dropped: 0 }
  const allowances: number[] = []
  let nowMs = 0
  let [room, known] = [-1, undefined as number | undefined]
  let knownFor: number | undefined
  let counts = 0
  const limiter = startLimiter({
    store: {
      register: async () => void steps.push('register'),
      spend: async (_tenant, deliveries, limits, isCountWanted = false) => {
        room -= deliveries
        if (limits.perTenant !== knownFor) known = undefined
        return { whole: known, isCountDue: room < 0 || known === undefined || isCountWanted }
      },
      counts: async () => {
        counts += 1
        return parked
      },
      counted: async (_tenant, limits, counted) => {
        steps.push('counted')
        ;[room, known, knownFor] = [counted.room, counted.whole, limits.perTenant]
      },
      trim: async ({ subscriptionId: id }, { whole, total }) => {
        allowances.push(whole)
        steps.push('trim')
        const count = parked.get(id) ?? 0
        const dropped = Math.max(0, Math.min(250, count - total))
        parked.set(id, count - dropped)
        return { count, bodies: 0, dropped, isDone: dropped < 250 }
      },
    },
    limits: { perSubscription: 10, perTenant: 1_000 },
    everyMs: 3_600_000,
    noticeBeyond: 1,
    notice: async ({ subscriptionId }) => void notices.push(subscriptionId),
    released: ({ bodies, dropped }) => {
      lost.bodies += bodies
      lost.dropped += dropped
    },
    now: () => nowMs,
    log: { warn: () => void steps.push('warn') },
    ...change,
  })
  const park = limiter.storing(async ({ subscriptionId }) => {
    steps.push('park')
    parked.set(subscriptionId, (parked.get(subscriptionId) ?? 0) + 1)
  })
  const parkOne = (delivery: Delivery): Promise<void> => park(delivery)
  const later = (ms: number): number => (nowMs += ms)
  return { limiter, parkOne, parked, steps, notices, lost, allowances, later, counts: () => counts }
}

test('a subscription is registered before its first delivery is parked, and again every hour', async () => {
  const { limiter, parkOne, steps, later } = aWorld()
  const delivery = aDelivery()
  await parkOne(delivery)
  await parkOne(delivery)
  expect(steps).toEqual(['register', 'park', 'park'])
  later(3_600_000)
  await parkOne(delivery)
  expect(steps).toEqual(['register', 'park', 'park', 'register', 'park'])
  await limiter.stop()
})

test('a delivery whose subscription cannot be registered is not parked and comes back', async () => {
  const { limiter, parkOne, parked } = aWorld({
    store: {
      register: () => Promise.reject(new Unavailable('redis', 'full')),
      ...DUE,
      counts: async () => new Map(),
      trim: async () => ({ count: 0, bodies: 0, dropped: 0, isDone: true }),
    },
  })
  await expect(parkOne(aDelivery())).rejects.toThrow(Unavailable)
  expect(parked.size).toBe(0)
  await limiter.stop()
})

test('a subscription is registered again after a failed parking, because Redis may have been emptied', async () => {
  const { limiter, steps } = aWorld()
  const delivery = aDelivery()
  let isAway = true
  const park = limiter.storing(async () => {
    if (isAway) throw new Unavailable('redis', 'Redis lost its data')
  })
  await expect(park(delivery, null, 'rejected')).rejects.toThrow(Unavailable)
  isAway = false
  await park(delivery, null, 'rejected')
  expect(steps).toEqual(['register', 'register'])
  await limiter.stop()
})

test('a delivery that a full Redis refuses to park triggers a sweep of its tenant, which frees memory', async () => {
  const delivery = aDelivery()
  const trimmed: SubscriptionId[] = []
  const { limiter, parkOne } = aWorld({
    store: {
      ...DUE,
      register: () => Promise.reject(new Unavailable('redis', 'full')),
      counts: async () => new Map([[delivery.subscriptionId, 11]]),
      trim: async ({ subscriptionId: id }) => {
        trimmed.push(id)
        return { count: 11, bodies: 1, dropped: 0, isDone: true }
      },
    },
  })
  await expect(parkOne(delivery)).rejects.toThrow(Unavailable)
  await limiter.sweep()
  expect(trimmed).toEqual([delivery.subscriptionId])
  await limiter.stop()
})

test('a sweep trims the deliveries beyond the limit, counts them and sends a notice; the next sweep has nothing to do', async () => {
  const { limiter, parkOne, parked, notices, lost, allowances } = aWorld()
  const [over, within] = [aDelivery(), aDelivery()]
  parked.set(over.subscriptionId, 1_000)
  await parkOne(over)
  await parkOne(within)
  await limiter.sweep()
  expect([...parked.values()]).toEqual([20, 1])
  expect(lost).toEqual({ bodies: 0, dropped: 981 })
  expect(notices).toEqual([over.subscriptionId])
  const trims = allowances.length
  await limiter.sweep()
  expect(allowances).toHaveLength(trims)
  await limiter.stop()
})

test('deliveries beyond what one sweep trims are left to the next sweep', async () => {
  const { limiter, parkOne, parked } = aWorld()
  const delivery = aDelivery()
  parked.set(delivery.subscriptionId, 7_000)
  await parkOne(delivery)
  await limiter.sweep()
  expect(parked.get(delivery.subscriptionId)).toBe(2_001)
  await limiter.sweep()
  expect(parked.get(delivery.subscriptionId)).toBe(20)
  await limiter.stop()
})

test('in a tenant over its limit, the subscription with the most parked deliveries is trimmed, even if it parks nothing now', async () => {
  const { limiter, parkOne, parked } = aWorld({ limits: { perSubscription: 1_000, perTenant: 100 } })
  const [idle, parking] = [newSubscriptionId(), aDelivery()]
  parked.set(idle, 400)
  parked.set(parking.subscriptionId, 19)
  await parkOne(parking)
  await limiter.sweep()
  expect(parked.get(idle)).toBe(160)
  expect(parked.get(parking.subscriptionId)).toBe(20)
  await limiter.stop()
})

test('a sweep looks at the subscriptions that parked something, and counts the tenant only when it may be over its limit', async () => {
  const { limiter, parkOne, parked, allowances, counts } = aWorld({ limits: { perSubscription: 10, perTenant: 20 } })
  const idle = Array.from({ length: 8 }, newSubscriptionId)
  for (const id of idle) parked.set(id, 1)
  const delivery = aDelivery()
  await parkOne(delivery)
  await limiter.sweep()
  for (let n = 0; n < 9; n++) {
    await parkOne(delivery)
    await limiter.sweep()
  }
  expect([counts(), allowances.length]).toEqual([1, 10])
  // 18 are parked. With three more the tenant is over its limit, and the subscription with the most gives way.
  for (let n = 0; n < 3; n++) await parkOne(aDelivery())
  await limiter.sweep()
  expect([counts(), allowances.slice(10)]).toEqual([2, [9, 9, 9, 9]])
  await limiter.stop()
})

test('until the first count of another worker is known, nothing is trimmed and the next sweep asks again', async () => {
  const delivery = aDelivery()
  const trimmed: SubscriptionId[] = []
  let whole: number | undefined
  const { limiter, parkOne } = aWorld({
    store: {
      register: async () => {},
      spend: async () => ({ whole, isCountDue: false }),
      counts: () => Promise.reject(new Error('not asked to count')),
      counted: () => Promise.reject(new Error('not asked to count')),
      trim: async ({ subscriptionId: id }) => {
        trimmed.push(id)
        return { count: 1, bodies: 0, dropped: 0, isDone: true }
      },
    },
  })
  await parkOne(delivery)
  await limiter.sweep()
  expect(trimmed).toEqual([])
  whole = 10
  await limiter.sweep()
  expect(trimmed).toEqual([delivery.subscriptionId])
  await limiter.stop()
})

test('a share that was counted when the lists were longer trims nothing: the tenant is counted again first', async () => {
  const { limiter, parkOne, parked, allowances, lost } = aWorld({ limits: { perSubscription: 10, perTenant: 100 } })
  const delivery = aDelivery()
  // Two of each would be 101; with one of each there is room for 49 more.
  for (let n = 0; n < 50; n++) parked.set(newSubscriptionId(), 2)
  await parkOne(delivery)
  await limiter.sweep()
  expect(allowances).toContain(1)
  // A recovery sends all that is parked.
  parked.clear()
  const before = [allowances.length, lost.dropped]
  for (let n = 0; n < 3; n++) await parkOne(delivery)
  await limiter.sweep()
  expect(new Set(allowances.slice(before[0]))).toEqual(new Set([10]))
  expect([parked.get(delivery.subscriptionId), lost.dropped]).toEqual([3, before[1]])
  await limiter.stop()
})

test.each([
  ['another worker counts meanwhile: the list is kept and asked about again', false, [10, 10]],
  ['no other worker counts: it is counted immediately', true, [10, 8]],
])('a list is longer than a share that is not its own limit, and %s', async (_name, isCountDue, expected) => {
  const delivery = aDelivery()
  const allowances: number[] = []
  const { limiter, parkOne, notices } = aWorld({
    limits: { perSubscription: 10, perTenant: 8 },
    store: {
      register: async () => {},
      spend: async (_tenant, _deliveries, _limits, isCountWanted = false) => ({
        whole: 2,
        isCountDue: isCountWanted && isCountDue,
      }),
      counts: async () => new Map([[delivery.subscriptionId, 9]]),
      counted: async () => {},
      trim: async (_id, { whole }) => {
        allowances.push(whole)
        return { count: 9, bodies: 0, dropped: 0, isDone: true }
      },
    },
  })
  await parkOne(delivery)
  await limiter.sweep()
  await limiter.sweep()
  expect(allowances).toEqual(expected)
  expect(notices).toEqual(isCountDue ? [delivery.subscriptionId] : [])
  await limiter.stop()
})

test('a count is noted before the trimming, so that the count of another worker does not add to its room', async () => {
  const { limiter, parkOne, steps } = aWorld()
  await parkOne(aDelivery())
  await limiter.sweep()
  expect(steps.slice(-2)).toEqual(['counted', 'trim'])
  await limiter.stop()
})

test('a sweep that fails is repeated for the same tenant', async () => {
  let isAway = true
  const trimmed: SubscriptionId[] = []
  const delivery = aDelivery()
  const { limiter, parkOne, steps } = aWorld({
    store: {
      ...DUE,
      register: async () => {},
      counts: async () => {
        if (isAway) throw new Unavailable('redis', 'away')
        return new Map([[delivery.subscriptionId, 11]])
      },
      trim: async ({ subscriptionId: id }) => {
        trimmed.push(id)
        return { count: 11, bodies: 1, dropped: 0, isDone: true }
      },
    },
  })
  await parkOne(delivery)
  await limiter.sweep()
  expect(steps).toContain('warn')
  isAway = false
  await limiter.sweep()
  expect(trimmed).toEqual([delivery.subscriptionId])
  await limiter.stop()
})
