import { type Delivery, newSubscriptionId, newToken, type Outcome, type Subscription } from '@switchhook/contracts'
import { type OpenedStore, useStore } from '@switchhook/servicekit'
import { createHeldStore, createPermitStore, type EndpointHealth, type HeldStore } from '@switchhook/store'
import { aDelivery, aSubscription, eventually, silentLog } from '@switchhook/testkit'
import { createVisitHeld } from '../held/visit-held.ts'
import { down, HEALTHY, heldParts, ok, posted } from '../testing/delivering.ts'
import { createPostLimits, type PostLimits } from './post-limits.ts'

/** Less than the lease of a visit. */
const PATIENT = { timeoutMs: 15_000 }

let store: OpenedStore['store']
let redis: OpenedStore['redis']
let held: HeldStore
let postLimits: PostLimits
const passed: Delivery[] = []
/** Those of `passed` that are sent immediately. */
const due: Delivery[] = []

useStore((opened) => {
  ;({ store, redis } = opened)
  held = createHeldStore(redis)
  postLimits = createPostLimits({
    permits: createPermitStore(redis, 20_000),
    held,
    broker: {
      publishDelivery: async (delivery) => void (passed.push(delivery), due.push(delivery)),
      publishYielding: async (delivery) => void passed.push(delivery),
    },
    redisNow: Date.now,
    nowMs: () => performance.now(),
    log: silentLog,
  })
})

beforeEach(() => void (passed.splice(0), due.splice(0)))

async function hold(limited: Subscription, count: number, of: Partial<Delivery> = {}): Promise<void> {
  const hold = () =>
    store.settle(aDelivery({ subscriptionId: limited.id, tenant: limited.tenant, ...of }), null, {
      state: 'held',
      slot: 0,
      next: { token: newToken(), postponed: 0 },
      dueInMs: 0,
      visitInMs: 0,
    })
  await Promise.all(Array.from({ length: count }, hold))
}

test('if more permits are free than one pass uses, the next pass follows immediately', async () => {
  const limited = aSubscription({ id: newSubscriptionId(), maxPerSecond: 1_000 })
  await hold(limited, 300)
  expect([await postLimits.passOn(limited), passed.length]).toEqual([0, 250])
  expect([await postLimits.passOn(limited), passed.length]).toEqual([null, 300])
})

test.each<[string, Outcome, isProbe: boolean, count: number]>([
  ['an answer', ok, false, 2],
  ['a failure, which may begin a cool-down,', down, false, 0],
  ['the probe of a cool-down, which has not ended yet,', ok, true, 0],
])('after %s held deliveries go on, or wait for a visit', async (_, outcome, isProbe, count) => {
  const limited = aSubscription({ id: newSubscriptionId(), maxInFlight: 2 })
  const delivery = { ...aDelivery({ subscriptionId: limited.id }), token: newToken() }
  await hold(limited, 3)
  await postLimits.withPermits(limited, delivery, isProbe, async (take) => {
    await take?.(false)
    return posted(delivery, outcome)
  })
  await postLimits.ended()
  expect(passed).toHaveLength(count)
})

test('a request that was written still counts in its second, and one that was not does not', async () => {
  const limited = aSubscription({ id: newSubscriptionId(), maxPerSecond: 2 })
  const delivery = aDelivery({ subscriptionId: limited.id })
  const taken: boolean[] = []
  await postLimits.withPermits(limited, delivery, false, async (take) => {
    for (const wasWritten of [false, false, true, true]) taken.push((await take?.(wasWritten)) !== undefined)
    return posted(delivery, ok)
  })
  expect(taken).toEqual([true, true, true, false])
})

test('a delivery that is passed on keeps its permit while workers are behind', async () => {
  const limited = aSubscription({ id: newSubscriptionId(), maxPerSecond: 2 })
  await hold(limited, 4)
  const passedOnAtMs = performance.now()
  await postLimits.passOn(limited)
  // More than the second of which the limit speaks.
  await eventually(() => expect(performance.now() - passedOnAtMs).toBeGreaterThan(1_500))
  await postLimits.passOn(limited)
  expect(due).toHaveLength(2)
  for (const delivery of due) {
    await postLimits.withPermits(limited, { ...delivery, token: newToken() }, false, async (take) => {
      expect(await take?.(false)).toBeDefined()
      return posted(delivery, ok)
    })
  }
})

test('while many deliveries are yielding, only as many as permits are free are added to them', async () => {
  const limited = aSubscription({ id: newSubscriptionId(), maxInFlight: 2, enabled: false })
  await hold(limited, 5)
  await postLimits.passOn(limited, { areManyYielding: true })
  expect([passed.length, due.length]).toEqual([2, 0])
})

test('deliveries that end without a POST use up no permits', async () => {
  const limited = aSubscription({ id: newSubscriptionId(), maxInFlight: 2, enabled: false })
  await hold(limited, 5)
  await postLimits.passOn(limited)
  expect(passed).toHaveLength(5)
})

test('a POST that takes longer to connect keeps to limits that were lowered meanwhile', async () => {
  const limited = aSubscription({ id: newSubscriptionId(), maxInFlight: 3 })
  const lowered = { ...limited, maxInFlight: 1 }
  const delivery = aDelivery({ subscriptionId: limited.id })
  const taken: boolean[] = []
  const post = (renewed?: Subscription): Promise<unknown> =>
    postLimits.withPermits(limited, delivery, false, async (take) => {
      taken.push((await take?.(false, renewed)) !== undefined)
      if (taken.length === 1) await post(lowered)
      return posted(delivery, ok)
    })
  await post()
  expect(taken).toEqual([true, false])
})

test('of a long backlog that has expired, one visit publishes a part, and then what may still be sent goes on', async () => {
  const limited = aSubscription({ id: newSubscriptionId(), maxPerSecond: 1, expireAfterSeconds: 10 })
  const old = new Date(Date.now() - 60_000).toISOString()
  await hold(limited, 2_500, { body: Buffer.from(`{"occurredAt":"${old}"}`) })
  await hold(limited, 1)
  expect(await postLimits.passOn(limited)).toBe(0)
  expect(passed.length).toBeGreaterThan(500)
  expect(passed.length).toBeLessThan(2_500)
  await eventually(async () => {
    await postLimits.passOn(limited)
    expect(passed).toHaveLength(2_501)
  })
}, 30_000)

/** Visits what is held, also by other tests, until one visit to the subscription has succeeded. */
async function visit(limited: Subscription, health: Partial<EndpointHealth> = {}, failures = 0): Promise<void> {
  let asked = 0
  const visitHeld = createVisitHeld({
    ...heldParts(),
    held,
    visits: held.visits,
    readEndpoint: async ({ subscriptionId }) => {
      if (subscriptionId !== limited.id) return { health: HEALTHY, subscription: undefined }
      if (asked++ < failures) throw new Error('Redis is away')
      return { health: { ...HEALTHY, ...health }, subscription: limited }
    },
    publish: async (delivery) => void (delivery.subscriptionId === limited.id && passed.push(delivery)),
    postLimits,
    waiting: async () => ({ yielding: 0, due: 0 }),
    log: silentLog,
  })
  await eventually(async () => {
    await visitHeld()
    expect(asked).toBeGreaterThan(failures)
  }, PATIENT)
}

test.each<[string, count: number, Partial<Subscription>, Partial<EndpointHealth>]>([
  ['passes on what the limits allow', 2, {}, {}],
  ['passes on one delivery as the probe that ends a cool-down', 1, {}, { state: 'probing' }],
  ['passes on nothing in a cool-down', 0, {}, { state: 'open', openUntilMs: Date.now() + 60_000 }],
  ['passes on nothing of a paused subscription', 0, { paused: true }, {}],
])('a visit %s', async (_, count, change, health) => {
  const limited = aSubscription({ id: newSubscriptionId(), maxPerSecond: 2, ...change })
  await hold(limited, 3)
  await visit(limited, health)
  expect(passed).toHaveLength(count)
})

test('a visit that failed is repeated soon, although no other worker has it meanwhile', async () => {
  const limited = aSubscription({ id: newSubscriptionId(), maxPerSecond: 10 })
  await hold(limited, 1)
  await visit(limited, {}, 1)
  expect(passed).toHaveLength(1)
}, 30_000)
