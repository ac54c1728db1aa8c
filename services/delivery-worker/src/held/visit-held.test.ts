import {
  type Delivery,
  type DeliveryId,
  newSubscriptionId,
  type Subscription,
  Unavailable,
} from '@switchhook/contracts'
import type { EndpointHealth, HeldEntry } from '@switchhook/store'
import { aDelivery, aSubscription, silentLog } from '@switchhook/testkit'
import { HEALTHY, heldParts } from '../testing/delivering.ts'
import { createVisitHeld, type HeldVisitsDeps, startVisits } from './visit-held.ts'

const START_MS = Date.parse('2026-11-20T12:00:00.000Z')
const open: EndpointHealth = { ...HEALTHY, state: 'open', openUntilMs: START_MS + 30_000 }
const probing: EndpointHealth = { ...HEALTHY, state: 'probing' }

const entryOf = (): HeldEntry => ({ deliveryId: aDelivery().deliveryId, score: '1' })

/** The dependencies of a worker to whom one subscription is due. Nothing is held. */
function depsOf(subscription: Subscription, held: Partial<HeldVisitsDeps['held']>): HeldVisitsDeps {
  const { id: subscriptionId, tenant } = subscription
  return {
    ...heldParts(),
    redisNow: () => START_MS,
    held: {
      lapsed: async () => [],
      readLeases: async (_id, leases) => leases.map(() => ({ isHeld: true })),
      unparked: async () => [],
      next: async () => ({ nowMs: START_MS, dueAtMs: null, lapsesAtMs: null }),
      due: async () => [],
      read: async (ids) => ids.map(() => undefined),
      release: async () => [],
      forget: async () => {},
      remove: async () => {},
      ...held,
    },
    visits: { claimDue: async () => [{ tenant, subscriptionId, claim: '' }], finish: async () => {} },
    readEndpoint: async () => ({ health: HEALTHY, subscription }),
    publish: async () => {},
    postLimits: { passOn: async () => null },
    waiting: async () => ({ yielding: 0, due: 0 }),
    log: silentLog,
  }
}

/**
 * A worker, and subscriptions of which each holds more deliveries than it ever publishes.
 * @param others what is different for all but the first, whose deliveries are retries then
 */
function aWorker(subscriptions = 1, others?: Partial<Subscription>) {
  let [subscription, health, nowMs, waiting, late] = [aSubscription(), HEALTHY, START_MS, 0, 0]
  const { id } = subscription
  const passes: unknown[] = []
  let publishes = 0
  const retries = new Set<DeliveryId>()
  const ids = [id, ...Array.from({ length: subscriptions - 1 }, () => newSubscriptionId())]
  const visit = createVisitHeld({
    ...depsOf(subscription, {
      next: async () => ({ nowMs, dueAtMs: START_MS, lapsesAtMs: null }),
      due: async (ofId, { most }) => {
        const entries = Array.from({ length: most }, entryOf)
        if (others !== undefined && ofId !== id) for (const { deliveryId } of entries) retries.add(deliveryId)
        return entries
      },
      read: async (some) =>
        some.map((each) => ({
          delivery: aDelivery({ subscriptionId: id, attempt: retries.has(each) ? 1 : 0 }),
          dueAtMs: START_MS,
        })),
    }),
    visits: {
      // The first is visited last.
      claimDue: async () =>
        ids.toReversed().map((subscriptionId) => ({ tenant: subscription.tenant, subscriptionId, claim: '' })),
      finish: async () => {},
    },
    readEndpoint: async ({ subscriptionId }) => ({
      health,
      subscription: subscriptionId === id ? subscription : { ...subscription, ...others },
    }),
    postLimits: {
      passOn: async (_limited, options) => {
        passes.push(options)
        return null
      },
    },
    publish: async () => void publishes++,
    waiting: async () => ({ yielding: waiting, due: late }),
    redisNow: () => nowMs,
  })
  return {
    passes,
    set: (change: Partial<Subscription>) => void (subscription = aSubscription({ id, ...change })),
    endpointIs: (state: EndpointHealth) => void (health = state),
    wait: (count: number) => void (waiting = count),
    beLate: (count: number) => void (late = count),
    /** Visits so many times. Resolves to how many deliveries each visit published. */
    async visits(times: number, afterMs = 1_000): Promise<number[]> {
      const counts: number[] = []
      for (let n = 0; n < times; n++) {
        nowMs += afterMs
        publishes = 0
        await visit()
        counts.push(publishes)
      }
      return counts
    },
  }
}

test('leases end although RabbitMQ cannot take the notice of a limit', async () => {
  let lapsesAtMs: number | null = START_MS - 1
  const visit = createVisitHeld({
    ...depsOf(aSubscription(), {
      next: async () => ({ nowMs: START_MS, dueAtMs: null, lapsesAtMs }),
      lapsed: async () => {
        lapsesAtMs = null
        return []
      },
    }),
    notices: {
      ...heldParts().notices,
      noticeHeldLimit: () => Promise.reject(new Unavailable('rabbitmq', 'away')),
    },
  })
  await visit()
  expect(lapsesAtMs).toBeNull()
})

test('a resumed subscription gets 100 in the first second, then twice as many each second, up to 2,000', async () => {
  const worker = aWorker()
  expect(await worker.visits(7)).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000])
})

test.each<[string, (worker: ReturnType<typeof aWorker>) => void]>([
  ['while it is paused again', ({ set }) => set({ paused: true })],
  ['while it is paused for a time', ({ set }) => set({ pausedUntil: new Date(START_MS + 60_000).toISOString() })],
  ['in a cool-down', ({ endpointIs }) => endpointIs(open)],
  ['while 5,000 others wait', ({ wait }) => wait(5_001)],
])('nothing is sent %s', async (_name, change) => {
  const worker = aWorker()
  expect(await worker.visits(1)).toEqual([100])
  change(worker)
  expect(await worker.visits(2)).toEqual([0, 0])
})

test('subscriptions that are resumed together add no more than may wait, all together', async () => {
  const worker = aWorker(3)
  expect(await worker.visits(6)).toEqual([300, 600, 1_200, 2_400, 4_800, 5_000])
})

test('what subscriptions hold that are disabled while they are paused does not delay what others release', async () => {
  const worker = aWorker(4, { paused: true, enabled: false })
  expect(await worker.visits(6)).toEqual([100, 200, 400, 800, 1_600, 2_000])
})

test('what stays held while a subscription is disabled is not read again, unless something before it went', async () => {
  let subscription = aSubscription({ paused: true, enabled: false })
  const ofIt = { subscriptionId: subscription.id }
  const retries = Array.from({ length: 3 }, () => aDelivery({ ...ofIt, attempt: 1 }))
  const first = aDelivery(ofIt)
  let list = [...retries.slice(0, 2), first, ...retries.slice(2)]
  const steps: string[] = []
  const nameOf = (delivery: Delivery): string => (delivery === first ? 'first' : `${retries.indexOf(delivery)}`)
  const visit = createVisitHeld({
    ...depsOf(subscription, {
      next: async () => ({ nowMs: START_MS, dueAtMs: START_MS, lapsesAtMs: null }),
      due: async (_id, { offset = 0, most }) =>
        list.slice(offset, offset + most).map(({ deliveryId }) => ({ deliveryId, score: '1' })),
      read: async (ids) => {
        const found = list.filter(({ deliveryId }) => ids.includes(deliveryId))
        if (found.length > 0) steps.push(`read ${found.map(nameOf).join(' ')}`)
        return found.map((delivery) => ({ delivery, dueAtMs: START_MS }))
      },
      remove: async (_id, _list, entries) => {
        list = list.filter((each) => !entries.some(({ deliveryId }) => deliveryId === each.deliveryId))
      },
    }),
    readEndpoint: async () => ({ health: HEALTHY, subscription }),
    publish: async (delivery) => void steps.push(`publish ${nameOf(delivery)}`),
  })
  const visited = async (): Promise<string[]> => {
    await visit()
    return steps.splice(0)
  }
  expect(await visited()).toEqual(['read 0 1 first 2', 'publish first'])
  expect(await visited()).toEqual([])
  retries.push(aDelivery({ ...ofIt, attempt: 1 }))
  list = retries.slice()
  expect(await visited()).toEqual(['read 3'])
  // One has gone on, for example because it was parked.
  list = retries.slice(1)
  expect(await visited()).toEqual(['read 1 2 3'])
  subscription = { ...subscription, paused: undefined }
  expect(await visited()).toEqual(['read 1 2 3', ...[1, 2, 3].map((each) => `publish ${each}`)])
})

test('a subscription with limits does not wait for what others release', async () => {
  const worker = aWorker()
  worker.set({ maxPerSecond: 1 })
  await worker.visits(1)
  worker.wait(5_001)
  await worker.visits(1)
  expect(worker.passes).toEqual([
    { most: 1, areManyYielding: false },
    { most: 1, areManyYielding: true },
  ])
})

test('subscriptions with limits pass on no more than workers send before their reservations end, all together', async () => {
  const worker = aWorker(3)
  worker.set({ maxPerSecond: 100 })
  worker.beLate(4_850)
  await worker.visits(1)
  expect(worker.passes).toEqual([100, 50].map((most) => ({ most, areManyYielding: false })))
})

test('while more visits are due than a worker claims, it soon claims others', async () => {
  const limited = aSubscription({ maxPerSecond: 1 })
  const deps = depsOf(limited, { next: async () => ({ nowMs: START_MS, dueAtMs: START_MS, lapsesAtMs: null }) })
  const [claims, nextsMs] = [[50, 50, 1, 0], [300]]
  const visit = createVisitHeld({
    ...deps,
    visits: {
      ...deps.visits,
      claimDue: async () =>
        Array.from({ length: claims.shift() ?? 0 }, () => ({
          ...limited,
          subscriptionId: newSubscriptionId(),
          claim: '',
        })),
    },
    postLimits: { passOn: async () => nextsMs.shift() ?? 1_000 },
  })
  expect([await visit(), await visit(), await visit(), await visit()]).toEqual([100, 100, 305, 1_005])
})

test('after a pause, and after a cool-down, it begins slowly again', async () => {
  const worker = aWorker()
  expect(await worker.visits(3)).toEqual([100, 200, 400])
  worker.set({ paused: true })
  await worker.visits(1)
  worker.set({})
  expect(await worker.visits(3)).toEqual([100, 200, 400])
  worker.endpointIs(probing)
  expect(await worker.visits(6)).toEqual([1, 1, 1, 1, 1, 1])
  worker.endpointIs(HEALTHY)
  expect(await worker.visits(2)).toEqual([100, 200])
  // The probe was another delivery.
  worker.endpointIs(open)
  await worker.visits(1)
  worker.endpointIs(HEALTHY)
  expect(await worker.visits(2)).toEqual([100, 200])
})

test('it begins slowly after a cool-down of 30 s in which another worker visited', async () => {
  const worker = aWorker()
  expect(await worker.visits(3)).toEqual([100, 200, 400])
  expect(await worker.visits(1, 30_000)).toEqual([100])
})

test.each<[string, Partial<HeldVisitsDeps>]>([
  ['', {}],
  [' of a deleted subscription', { readEndpoint: async () => ({ health: HEALTHY, subscription: undefined }) }],
])('a lease of a client%s that ends counts an attempt; one of a worker that died does not', async (_, change) => {
  const id = newSubscriptionId()
  const ofClients = { subscriptionId: id, url: '' }
  const [received, retried, gone] = [
    aDelivery(ofClients),
    aDelivery({ ...ofClients, attempt: 2 }),
    aDelivery(ofClients),
  ]
  const passedOn = aDelivery({ subscriptionId: id })
  const entryOfLease = ({ deliveryId }: Delivery): HeldEntry => ({ deliveryId, score: `${START_MS}010` })
  const entries = [received, retried, gone, passedOn].map(entryOfLease)
  const settled: unknown[] = []
  const given: unknown[] = []
  const ends: [DeliveryId | undefined, string][] = []
  const deps = depsOf(aSubscription({ id, mode: 'pull', url: '' }), {
    next: async () => ({ nowMs: START_MS, dueAtMs: null, lapsesAtMs: START_MS }),
    lapsed: async () => entries,
    read: async (ids) =>
      ids
        .map((each) => [received, retried, passedOn].find(({ deliveryId }) => deliveryId === each))
        .map((delivery) => delivery && { delivery, dueAtMs: START_MS }),
    release: async (_id, leases) => leases.map(({ deliveryId }) => given.push(deliveryId) > 0),
    remove: async (_id, _list, [entry]) => void ends.push([entry?.deliveryId, 'the lease is removed']),
  })
  const conclude: HeldVisitsDeps['conclude'] = async ({ delivery: { deliveryId }, attempt }) =>
    void settled.push([deliveryId, attempt.attempt, attempt.outcome])
  const heldLimit: HeldVisitsDeps['heldLimit'] = {
    ...deps.heldLimit,
    listAgain: async ({ deliveryId }) => void ends.push([deliveryId, 'listed again, if it is not listed']),
  }
  await createVisitHeld({ ...deps, conclude, heldLimit, ...change })()
  expect(settled).toEqual([
    [received.deliveryId, 1, 'lapsed'],
    [retried.deliveryId, 3, 'lapsed'],
  ])
  expect(given).toEqual([passedOn.deliveryId])
  // Another worker may have held it again and died. In the other order the lease would count as its entry.
  for (const { deliveryId } of [received, retried, gone])
    expect(ends.filter(([id]) => id === deliveryId).map(([, end]) => end)).toEqual([
      'the lease is removed',
      'listed again, if it is not listed',
    ])
  expect(ends).toHaveLength(6)
})

describe('while Redis is away', () => {
  beforeEach(() => void jest.useFakeTimers())
  afterEach(() => void jest.useRealTimers())

  test('it is logged once, and the visits go on', async () => {
    let asked = 0
    const claimDue = (): never => {
      asked += 1
      throw new Error('Redis cannot be reached')
    }
    const warned: string[] = []
    const visits = startVisits({
      held: { visits: { claimDue } },
      broker: {},
      redisNow: Date.now,
      log: { warn: (message: string) => void warned.push(message) },
    } as unknown as Parameters<typeof startVisits>[0])
    await jest.advanceTimersByTimeAsync(3_500)
    expect([asked, warned]).toEqual([3, ['due visits to held deliveries cannot be read; retrying']])
    await visits.stop()
  })
})
