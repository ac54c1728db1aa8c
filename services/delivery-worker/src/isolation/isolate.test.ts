import { type Delivery, newSubscriptionId, type SubscriptionId } from '@switchhook/contracts'
import { eventually } from '@switchhook/testkit'
import fc from 'fast-check'
import { createDeliver } from '../pipeline/deliver.ts'
import { aDelivery, aSubscription } from '../testing/deliveries.ts'
import { createIsolation, laneOf } from './isolate.ts'

const LANES = 16
const slow = newSubscriptionId()
const other = newSubscriptionId()

const deliveryTo = (subscriptionId: SubscriptionId, attempt = 0): Delivery =>
  aDelivery({ subscriptionId, attempt, slot: attempt })

/** Deliveries whose POSTs end when a test says so. `withoutTurn`: whether a delivery without a turn needs no POST. */
function aWorld(
  cap: number,
  patienceMs = 1,
  withoutTurn: (delivery: Delivery) => Promise<boolean> = async () => false,
  quick: { readonly most: number; readonly beyondLeast: number } = { most: cap, beyondLeast: 0 },
) {
  /** The clock of attempts and turns. */
  const world = { nowMs: 0 }
  const inFlight: { readonly delivery: Delivery; readonly end: (error?: Error, status?: number) => void }[] = []
  const aside: [Delivery, number][] = []
  const isolation = createIsolation({
    turns: { least: cap, ...quick },
    lanes: LANES,
    patienceMs,
    publishToLane: async (delivery, lane) => void aside.push([delivery, lane]),
    nowMs: () => world.nowMs,
  })
  const withTurn = new Set<Delivery>()
  const deliver = createDeliver({
    waitsMs: [],
    cooldownMs: 1,
    isolation: {
      ...isolation,
      take: (delivery) => {
        const hasTurn = isolation.take(delivery)
        if (hasTurn) withTurn.add(delivery)
        return hasTurn
      },
    },
    isSettled: async (delivery) => !withTurn.has(delivery) && (await withoutTurn(delivery)),
    admit: async (admitted) => ({
      admitted,
      health: { state: 'closed', consecutiveFailures: 0, openUntilMs: null },
      lease: { subscription: aSubscription({ id: admitted.subscriptionId }), trustedUntilMs: Infinity },
    }),
    breaker: { isFailing: () => false, claimProbe: async () => undefined, note: async () => {} },
    post: (delivery) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error, status = 204): void => {
          inFlight.splice(
            inFlight.findIndex((one) => one.delivery === delivery),
            1,
          )
          if (error === undefined) resolve({ kind: status < 300 ? 'delivered' : 'answered', status })
          else reject(error)
        }
        inFlight.push({ delivery, end })
      }),
    retryLater: async () => {},
    park: async () => {},
    settle: async () => {},
    keep: async () => {},
    report: () => {},
    noticeParked: async () => {},
    now: () => world.nowMs,
    nowMs: () => world.nowMs,
  })
  const of = (subscription: SubscriptionId): number =>
    inFlight.filter(({ delivery }) => delivery.subscriptionId === subscription).length
  return {
    due: (delivery: Delivery) => deliver(delivery, 'due'),
    fromLane: (delivery: Delivery) => deliver(delivery, 'lane'),
    stop: isolation.stop,
    world,
    inFlight,
    aside,
    of,
  }
}

const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('beyond its cap, a subscription’s deliveries move unchanged to its lane; other subscriptions get their turns', async () => {
  const { due, aside, of } = aWorld(2)
  const third = deliveryTo(slow)
  void due(deliveryTo(slow))
  void due(deliveryTo(slow))
  await due(third)
  expect(aside).toEqual([[third, laneOf(slow, LANES)]])
  void due(deliveryTo(other))
  await idle()
  expect([of(slow), of(other)]).toEqual([2, 1])
})

test('a free turn goes to the waiting deliveries of the lane, in their order', async () => {
  const { due, fromLane, inFlight } = aWorld(1)
  const [first, second, third] = [deliveryTo(slow), deliveryTo(slow), deliveryTo(slow)]
  void due(first)
  void fromLane(second)
  void fromLane(third)
  await idle()
  expect(inFlight.map(({ delivery }) => delivery)).toEqual([first])
  inFlight[0]?.end()
  await idle()
  expect(inFlight.map(({ delivery }) => delivery)).toEqual([second])
  inFlight[0]?.end()
  await idle()
  expect(inFlight.map(({ delivery }) => delivery)).toEqual([third])
})

test('retries leave a share of the turns to first attempts', async () => {
  const { due, aside, of } = aWorld(5)
  await Promise.race([
    Promise.all(Array.from({ length: 6 }, () => due(deliveryTo(slow, 1)))),
    eventually(() => expect([of(slow), aside.length]).toEqual([4, 2])),
  ])
  void due(deliveryTo(slow))
  await idle()
  expect(of(slow)).toBe(5)
})

test('retries and first attempts both get their share under a constant flow of first attempts', async () => {
  const { fromLane, inFlight } = aWorld(5)
  const begun = { first: 0, retry: 0 }
  const arrive = (attempt: number): void => {
    void fromLane(deliveryTo(slow, attempt))
  }
  for (let n = 0; n < 50; n++) arrive(n % 2)
  for (let n = 0; n < 40; n++) {
    const [one] = inFlight
    begun[one?.delivery.attempt === 0 ? 'first' : 'retry'] += 1
    one?.end()
    await idle()
    arrive(0)
    const retries = inFlight.filter(({ delivery }) => delivery.attempt > 0).length
    expect(retries).toBeLessThanOrEqual(4)
  }
  expect(begun.retry).toBeGreaterThanOrEqual(15)
  expect(begun.first).toBeGreaterThanOrEqual(15)
})

test('a delivery waits a moment for a turn before it moves to a lane', async () => {
  const { due, inFlight, aside } = aWorld(1, 10_000)
  const [first, second] = [deliveryTo(slow), deliveryTo(slow)]
  void due(first)
  void due(second)
  await idle()
  inFlight[0]?.end()
  await idle()
  expect(inFlight.map(({ delivery }) => delivery)).toEqual([second])
  expect(aside).toEqual([])
})

test('after one delivery has waited in vain, the next ones move to the lane at once, until a turn is free', async () => {
  const { due, inFlight, aside, of } = aWorld(1, 20)
  void due(deliveryTo(slow))
  await due(deliveryTo(slow))
  const startedAt = performance.now()
  await due(deliveryTo(slow))
  expect(performance.now() - startedAt).toBeLessThan(15)
  expect(aside).toHaveLength(2)
  inFlight[0]?.end()
  await idle()
  void due(deliveryTo(slow))
  void due(deliveryTo(slow))
  await idle()
  inFlight[0]?.end()
  await idle()
  expect([of(slow), aside.length]).toEqual([1, 2])
})

test('a subscription that always has deliveries, but free turns again, is no longer crowded', async () => {
  const { due, inFlight, aside, of } = aWorld(2, 20)
  void due(deliveryTo(slow))
  void due(deliveryTo(slow))
  await due(deliveryTo(slow))
  expect(aside).toHaveLength(1)
  for (let n = 0; n < 3; n++) {
    inFlight[0]?.end()
    await idle()
    expect(of(slow)).toBe(1)
    void due(deliveryTo(slow))
    void due(deliveryTo(slow))
    await idle()
    inFlight[0]?.end()
    await idle()
    expect(of(slow)).toBe(2)
  }
  expect(aside).toHaveLength(1)
})

test('a delivery that needs no POST is completed without a turn, neither waiting nor moving to a lane', async () => {
  const first = deliveryTo(slow)
  const retry = deliveryTo(slow, 2)
  const cooling = [first, retry]
  const done: Delivery[] = []
  const { due, fromLane, inFlight, aside } = aWorld(1, 10_000, async (delivery) => {
    if (!cooling.includes(delivery)) return false
    done.push(delivery)
    return true
  })
  void due(deliveryTo(slow))
  await due(first)
  await fromLane(retry)
  expect(done).toEqual(cooling)
  expect([inFlight.length, aside.length]).toEqual([1, 0])
})

test('a delivery gets a turn that became free during its look', async () => {
  let answer = (_needsNoTurn: boolean): void => {}
  const { due, fromLane, inFlight, of } = aWorld(1, 10_000, () => new Promise((resolve) => (answer = resolve)))
  void due(deliveryTo(slow))
  await idle()
  for (const deliver of [due, fromLane]) {
    void deliver(deliveryTo(slow))
    inFlight[0]?.end()
    await idle()
    expect(of(slow)).toBe(0)
    answer(false)
    await idle()
    expect(of(slow)).toBe(1)
  }
})

/** Ends the oldest POST and lets the next deliveries begin theirs. */
async function endOne(inFlight: ReturnType<typeof aWorld>['inFlight'], status?: number): Promise<void> {
  inFlight[0]?.end(undefined, status)
  await idle()
}

test('a quick endpoint gets more turns, and loses them with the first failure', async () => {
  const { fromLane, inFlight, of } = aWorld(2, 10_000, undefined, { most: 6, beyondLeast: 10 })
  for (let n = 0; n < 40; n++) void fromLane(deliveryTo(slow))
  await idle()
  const seen = []
  for (let n = 0; n < 6; n++) {
    seen.push(of(slow))
    await endOne(inFlight)
  }
  expect(seen).toEqual([2, 3, 4, 5, 6, 6])
  await endOne(inFlight, 503)
  for (let n = 0; n < 4; n++) await endOne(inFlight, 503)
  expect(of(slow)).toBe(2)
})

test('a quick endpoint that stops answering gets no further turn', async () => {
  const { fromLane, inFlight, world, of } = aWorld(2, 10_000, undefined, { most: 6, beyondLeast: 10 })
  for (let n = 0; n < 6; n++) void fromLane(deliveryTo(slow))
  await idle()
  for (let n = 0; n < 4; n++) await endOne(inFlight)
  expect(of(slow)).toBe(2)
  world.nowMs += 250
  for (let n = 0; n < 4; n++) void fromLane(deliveryTo(slow))
  await idle()
  expect(of(slow)).toBe(2)
})

test('a quick endpoint leaves further turns to the next one', async () => {
  const { fromLane, inFlight, of } = aWorld(1, 10_000, undefined, { most: 10, beyondLeast: 6 })
  for (let n = 0; n < 60; n++) void fromLane(deliveryTo(slow))
  await idle()
  for (let n = 0; n < 10; n++) await endOne(inFlight)
  expect(of(slow)).toBe(7)
  for (let n = 0; n < 60; n++) void fromLane(deliveryTo(other))
  for (let n = 0; n < 40; n++) await endOne(inFlight)
  expect([of(slow), of(other)]).toEqual([4, 4])
})

test('with a cap of one, retries and first attempts share the turn', async () => {
  const { due, of } = aWorld(1)
  void due(deliveryTo(slow, 3))
  await idle()
  expect(of(slow)).toBe(1)
})

test('our own failure is passed on and returns the turn', async () => {
  const { due, inFlight, of } = aWorld(1)
  const failing = due(deliveryTo(slow))
  await idle()
  inFlight[0]?.end(new Error('redis is away'))
  await expect(failing).rejects.toThrow('redis is away')
  void due(deliveryTo(slow))
  await idle()
  expect(of(slow)).toBe(1)
})

test('when the worker stops, waiting deliveries return to the broker and those in flight finish', async () => {
  const { due, fromLane, stop, inFlight } = aWorld(1)
  const first = due(deliveryTo(slow))
  const waiting = fromLane(deliveryTo(slow))
  stop()
  await expect(waiting).rejects.toMatchObject({ dependency: 'rabbitmq' })
  inFlight[0]?.end()
  await first
})

test('in any order of arrivals and ends, no subscription exceeds its cap and no delivery is forgotten', async () => {
  const move = fc.oneof(
    fc.record({ kind: fc.constantFrom('due', 'lane'), who: fc.constantFrom(slow, other), attempt: fc.nat({ max: 2 }) }),
    fc.record({ kind: fc.constant('end'), at: fc.nat({ max: 10 }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 60 }), async (moves) => {
      const { due, fromLane, inFlight, aside, of } = aWorld(3)
      let given = 0
      let over = 0
      const count = (): void => void (over += 1)
      for (const one of moves) {
        if ('who' in one) {
          given += 1
          const deliver = one.kind === 'due' ? due : fromLane
          void deliver(deliveryTo(one.who, one.attempt)).then(count)
        } else inFlight[one.at % Math.max(1, inFlight.length)]?.end()
        await idle()
        expect(Math.max(of(slow), of(other))).toBeLessThanOrEqual(3)
      }
      while (inFlight.length > 0) {
        inFlight[0]?.end()
        await idle()
      }
      expect(over).toBe(given)
      expect(aside.length).toBeLessThanOrEqual(given)
    }),
    { numRuns: 50 },
  )
})

test('a delivery counts as moved to its lane only after the broker’s confirm', async () => {
  const confirms = [() => Promise.reject(new Error('no confirm')), async () => {}]
  let moved = 0
  const isolation = createIsolation({
    turns: { least: 1, most: 1, beyondLeast: 0 },
    lanes: LANES,
    patienceMs: 1,
    nowMs: () => 0,
    publishToLane: async () => confirms.shift()?.(),
    movedToLane: () => void (moved += 1),
  })
  await expect(isolation.moveToLane(deliveryTo(slow))).rejects.toThrow('no confirm')
  expect(moved).toBe(0)
  await isolation.moveToLane(deliveryTo(slow))
  expect(moved).toBe(1)
})
