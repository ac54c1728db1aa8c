import { type Delivery, newSubscriptionId, type SubscriptionId } from '@switchhook/contracts'
import type { EndpointHealth } from '@switchhook/store'
import { aDelivery, eventually } from '@switchhook/testkit'
import fc from 'fast-check'
import { createPostUnderLease } from '../http/post-under-lease.ts'
import { createPipeline } from '../pipeline/pipeline.ts'
import { aBreaker, anIsolation, aReading, down, HEALTHY, ok, pipelineDeps, posted } from '../testing/delivering.ts'
import { type IsolationDeps, type Need, type Source, turnOrLane } from './isolation.ts'

const slow = newSubscriptionId()
const other = newSubscriptionId()

const deliveryTo = (subscriptionId: SubscriptionId, attempt = 0): Delivery =>
  aDelivery({ subscriptionId, attempt, slot: attempt })

interface WorldOptions {
  readonly patienceMs?: number
  /** Resolves to whether a delivery is POSTed. */
  readonly look?: (delivery: Delivery) => Promise<boolean>
  /** Of a delivery that is POSTed. */
  readonly needOf?: (delivery: Delivery) => Need
  readonly mostHanging?: number
  readonly quick?: { readonly most: number; readonly beyondLeast: number }
}

const withdrawn = { kind: 'withdrawn' } as const

/** The state of an endpoint whose deliveries need this. */
const healthOf = (need: Need): EndpointHealth => ({
  ...HEALTHY,
  state: need === 'probe' ? 'probing' : 'closed',
  recentHangs: need === 'lane-only' ? 1 : 0,
})

/** A pipeline whose POSTs end when a test says so. */
function aWorld(
  cap: number,
  {
    patienceMs = 1,
    look = async () => true,
    needOf = () => 'turn',
    mostHanging = 1_000,
    quick = { most: cap, beyondLeast: 0 },
  }: WorldOptions = {},
) {
  const world = { nowMs: 0 }
  const inFlight: {
    readonly delivery: Delivery
    readonly end: (error?: Error, isFailure?: boolean) => void
  }[] = []
  const aside: Delivery[] = []
  const givenUp: Delivery[] = []
  const isolation = anIsolation({
    turns: { least: cap, ...quick },
    mostHanging,
    patienceMs,
    publishToLane: async (delivery) => void aside.push(delivery),
    nowMs: () => world.nowMs,
    runningMs: () => world.nowMs,
  })
  const { deliver } = createPipeline(
    pipelineDeps({
      isolation,
      admit: async (delivery) =>
        (await look(delivery)) ? aReading(delivery, { health: healthOf(needOf(delivery)) }) : aReading(withdrawn),
      breaker: aBreaker({
        claimProbe: async () => 'probe',
        giveUpProbe: async (delivery) => void givenUp.push(delivery),
      }),
      post: (delivery, _attempt, _trustedUntilMs, { writing } = {}) =>
        new Promise((resolve, reject) => {
          const beganMs = world.nowMs
          const answered = writing?.()
          const end = (error?: Error, isFailure = false): void => {
            answered?.()
            inFlight.splice(
              inFlight.findIndex((one) => one.delivery === delivery),
              1,
            )
            if (error === undefined) resolve(posted(delivery, isFailure ? down : ok, world.nowMs - beganMs))
            else reject(error)
          }
          inFlight.push({ delivery, end })
        }),
    }),
  )
  const of = (subscription: SubscriptionId): number =>
    inFlight.filter(({ delivery }) => delivery.subscriptionId === subscription).length
  return {
    due: (delivery: Delivery) => deliver(delivery, 'due'),
    fromLane: (delivery: Delivery) => deliver(delivery, 'lane'),
    stop: isolation.stop,
    world,
    inFlight,
    aside,
    givenUp,
    of,
  }
}

test.each<[Source, Need, ...ReturnType<typeof turnOrLane>[]]>([
  // A turn is free; none is; none is, and a delivery has waited in vain; the tenant is over its hanging limit.
  ['due', 'nothing', 'no turn', 'no turn', 'no turn', 'no turn'],
  ['due', 'probe', 'no turn', 'no turn', 'no turn', 'lane'],
  ['due', 'turn', 'turn', 'wait', 'lane', 'lane'],
  ['due', 'lane-only', 'lane', 'lane', 'lane', 'lane'],
  ['lane', 'nothing', 'no turn', 'no turn', 'no turn', 'no turn'],
  ['lane', 'probe', 'no turn', 'no turn', 'no turn', 'no turn'],
  ['lane', 'turn', 'turn', 'wait', 'wait', 'turn'],
  ['lane', 'lane-only', 'turn', 'wait', 'wait', 'turn'],
])('a delivery from %s that needs %s', (source, need, ...expected) => {
  const got = ['free', 'taken', 'crowded', 'over'].map((now) => {
    const turns = { isFree: () => now === 'free' || now === 'over', isCrowded: now === 'crowded' }
    return turnOrLane(deliveryTo(slow), need, source, turns, { isExceededBy: () => now === 'over' })
  })
  expect(got).toEqual(expected)
})

const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('beyond its cap, a subscription’s deliveries move unchanged to its lane; other subscriptions get their turns', async () => {
  const { due, aside, of } = aWorld(2)
  const third = deliveryTo(slow)
  void due(deliveryTo(slow))
  void due(deliveryTo(slow))
  await due(third)
  expect(aside).toEqual([third])
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
  const { due, inFlight, aside } = aWorld(1, { patienceMs: 10_000 })
  const [first, second] = [deliveryTo(slow), deliveryTo(slow)]
  void due(first)
  void due(second)
  await idle()
  inFlight[0]?.end()
  await idle()
  expect(inFlight.map(({ delivery }) => delivery)).toEqual([second])
  expect(aside).toEqual([])
})

test('after one delivery timed out waiting for a turn, the next ones move to the lane immediately, until a turn is free', async () => {
  const { due, inFlight, aside, of } = aWorld(1, { patienceMs: 500 })
  void due(deliveryTo(slow))
  await due(deliveryTo(slow))
  void due(deliveryTo(slow))
  await idle()
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
  const { due, inFlight, aside, of } = aWorld(2, { patienceMs: 20 })
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

test('a delivery that needs no turn is completed without one, neither waiting nor moving to a lane', async () => {
  const cooling = [deliveryTo(slow), deliveryTo(slow, 2)] as const
  const looked: Delivery[] = []
  const { due, fromLane, inFlight, aside } = aWorld(1, {
    patienceMs: 10_000,
    look: async (delivery) => {
      looked.push(delivery)
      return !cooling.includes(delivery)
    },
  })
  const first = deliveryTo(slow)
  void due(first)
  await due(cooling[0])
  await fromLane(cooling[1])
  expect(looked).toEqual([first, ...cooling])
  expect([inFlight.length, aside.length]).toEqual([1, 0])
})

test('a delivery gets a turn that became free during its look', async () => {
  const looks: (() => void)[] = []
  const look = () => new Promise<boolean>((resolve) => looks.push(() => resolve(true)))
  const { due, fromLane, inFlight, of } = aWorld(1, { patienceMs: 10_000, look })
  void due(deliveryTo(slow))
  looks.shift()?.()
  await idle()
  for (const deliver of [due, fromLane]) {
    void deliver(deliveryTo(slow))
    inFlight[0]?.end()
    await idle()
    expect(of(slow)).toBe(0)
    looks.shift()?.()
    await idle()
    expect(of(slow)).toBe(1)
  }
})

test('a delivery gets it also while its subscription is crowded', async () => {
  const looks: (() => void)[] = []
  const look = () => new Promise<boolean>((resolve) => looks.push(() => resolve(true)))
  const { due, inFlight, aside, of } = aWorld(2, { look })
  const [, , third] = [1, 2, 3].map(() => due(deliveryTo(slow)))
  await idle()
  for (const found of looks.splice(0)) found()
  await third
  void due(deliveryTo(slow))
  inFlight[0]?.end()
  await idle()
  looks.shift()?.()
  await idle()
  expect([of(slow), aside.length]).toEqual([2, 1])
})

/** Ends the oldest POST and lets the next deliveries begin theirs. */
async function endOne(inFlight: ReturnType<typeof aWorld>['inFlight'], isFailure = false): Promise<void> {
  inFlight[0]?.end(undefined, isFailure)
  await idle()
}

test('the deliveries of an endpoint that has let a POST hang start in its lane, and need a turn there', async () => {
  const { due, fromLane, aside, of } = aWorld(1, {
    needOf: ({ subscriptionId }) => (subscriptionId === slow ? 'lane-only' : 'turn'),
  })
  const first = deliveryTo(slow)
  await due(first)
  void due(deliveryTo(other))
  for (let n = 0; n < 2; n++) void fromLane(deliveryTo(slow))
  await idle()
  expect(aside).toEqual([first])
  expect([of(slow), of(other)]).toEqual([1, 1])
})

describe('a tenant that exceeds its limit of hanging POSTs', () => {
  /** With two POSTs that hang of one allowed, to endpoints of `acme`. */
  async function overHangingLimit(options: WorldOptions = {}) {
    const world = aWorld(4, { mostHanging: 1, ...options })
    void world.due(deliveryTo(other))
    await idle()
    await endOne(world.inFlight)
    for (let n = 0; n < 2; n++) void world.due(deliveryTo(newSubscriptionId()))
    await idle()
    world.world.nowMs += 1_000
    return world
  }

  test('keeps sending to its quick endpoints; others start in their lanes', async () => {
    const { due, fromLane, aside, of } = await overHangingLimit()
    void due(deliveryTo(other))
    const delivery = deliveryTo(slow)
    await due(delivery)
    void fromLane(deliveryTo(slow))
    await idle()
    expect([of(other), of(slow)]).toEqual([1, 1])
    expect(aside).toEqual([delivery])
  })

  test('does not slow other tenants', async () => {
    const { due, aside, of } = await overHangingLimit()
    void due({ ...deliveryTo(slow), tenant: 'globex' })
    await idle()
    expect([of(slow), aside]).toEqual([1, []])
  })

  test('gives up a probe before the probe moves, and makes it from the lane', async () => {
    const { due, fromLane, aside, givenUp, of } = await overHangingLimit({
      needOf: ({ subscriptionId }) => (subscriptionId === slow ? 'probe' : 'turn'),
    })
    const probe = deliveryTo(slow, 5)
    await due(probe)
    expect([givenUp, aside]).toEqual([[probe], [probe]])
    void fromLane(probe)
    await idle()
    expect(of(slow)).toBe(1)
  })
})

test('a quick endpoint gets more turns, and loses them with the first failure', async () => {
  const { fromLane, inFlight, of } = aWorld(2, { quick: { most: 6, beyondLeast: 10 } })
  for (let n = 0; n < 40; n++) void fromLane(deliveryTo(slow))
  await idle()
  const seen = []
  for (let n = 0; n < 6; n++) {
    seen.push(of(slow))
    await endOne(inFlight)
  }
  expect(seen).toEqual([2, 3, 4, 5, 6, 6])
  await endOne(inFlight, true)
  for (let n = 0; n < 4; n++) await endOne(inFlight, true)
  expect(of(slow)).toBe(2)
})

test('a quick endpoint that stops answering gets no further turn', async () => {
  const { fromLane, inFlight, world, of } = aWorld(2, { quick: { most: 6, beyondLeast: 10 } })
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
  const { fromLane, inFlight, of } = aWorld(1, { quick: { most: 10, beyondLeast: 6 } })
  for (let n = 0; n < 60; n++) void fromLane(deliveryTo(slow))
  await idle()
  for (let n = 0; n < 10; n++) await endOne(inFlight)
  expect(of(slow)).toBe(7)
  for (let n = 0; n < 60; n++) void fromLane(deliveryTo(other))
  for (let n = 0; n < 40; n++) await endOne(inFlight)
  expect([of(slow), of(other)]).toEqual([4, 4])
})

describe('while Redis is slow', () => {
  const ANSWER_MS = 20
  const READ_MS = 300

  /** Whose leases have ended when their POSTs begin, so that each waits for a read. Endpoints answer when a test says so. */
  function aSlowWorld(change: Partial<IsolationDeps>) {
    const world = { nowMs: 0 }
    const reads: (() => void)[] = []
    const answers: (() => void)[] = []
    const clocks = { nowMs: () => world.nowMs, runningMs: () => world.nowMs }
    const isolation = anIsolation({ ...clocks, ...change })
    const ending = (ends: (() => void)[], ms: number): Promise<void> =>
      new Promise((resolve) =>
        ends.push(() => {
          world.nowMs += ms
          resolve()
        }),
      )
    const post = createPostUnderLease({
      ...clocks,
      startDeadline: () => ({ hasPassed: false, whenPassed: () => {}, stop: () => {} }),
      writeWithin: async () => {
        await ending(answers, ANSWER_MS)
        return ok
      },
      renew: async (delivery) => {
        await ending(reads, READ_MS)
        return aReading(delivery, { trustedUntilMs: world.nowMs + 1 })
      },
    })
    const admit = async (delivery: Delivery) => aReading(delivery, { trustedUntilMs: world.nowMs })
    const { deliver } = createPipeline(pipelineDeps({ ...clocks, isolation, post, admit }))
    const endAll = async (ends: (() => void)[]): Promise<void> => {
      await idle()
      for (const end of ends.splice(0)) end()
      await idle()
    }
    return { world, isolation, deliver, reads, answers, endAll }
  }

  test('a quick endpoint earns turns', async () => {
    const { deliver, reads, answers, endAll } = aSlowWorld({ turns: { least: 1, most: 2, beyondLeast: 1 } })
    const ended = [1, 2, 3].map(() => deliver(deliveryTo(slow), 'lane'))
    await endAll(reads)
    await endAll(answers)
    expect(reads).toHaveLength(2)
    await endAll(reads)
    await endAll(answers)
    await Promise.all(ended)
  })

  test('no POST hangs that waits for it', async () => {
    const { world, isolation, deliver, reads, answers, endAll } = aSlowWorld({ mostHanging: 0 })
    const need = () => isolation.enter(deliveryTo(other), 'due').waitForTurn('turn')
    const ended = deliver(deliveryTo(slow), 'lane')
    await idle()
    world.nowMs += 2_000
    expect(await need()).toBe('ready')
    await endAll(reads)
    world.nowMs += 1_000
    expect(await need()).toBe('move')
    await endAll(answers)
    await ended
  })
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

test('when the worker stops, deliveries without a turn do not wait, and those in flight finish', async () => {
  const { due, fromLane, stop, inFlight, aside } = aWorld(1, { patienceMs: 60_000 })
  const first = due(deliveryTo(slow))
  const waiting = fromLane(deliveryTo(slow))
  stop()
  await expect(waiting).rejects.toMatchObject({ dependency: 'process' })
  await expect(fromLane(deliveryTo(slow))).rejects.toMatchObject({ dependency: 'process' })
  await due(deliveryTo(slow))
  expect(aside).toHaveLength(1)
  inFlight[0]?.end()
  await first
})

test.each<[Source, Need]>([
  ['due', 'probe'],
  ['lane', 'probe'],
  ['due', 'nothing'],
  ['lane', 'nothing'],
])('when the worker stops, a delivery from %s that needs %s goes on without a turn', async (source, need) => {
  const { due, fromLane, stop, inFlight, aside } = aWorld(1, {
    needOf: ({ attempt }) => (attempt === 0 ? 'turn' : need),
    look: async ({ attempt }) => attempt === 0 || need === 'probe',
  })
  const first = due(deliveryTo(slow))
  await idle()
  stop()
  const second = (source === 'due' ? due : fromLane)(deliveryTo(slow, 1))
  await idle()
  expect(inFlight).toHaveLength(need === 'probe' ? 2 : 1)
  while (inFlight.length > 0) inFlight[0]?.end()
  await Promise.all([first, second])
  expect(aside).toEqual([])
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
  const isolation = anIsolation({
    turns: { least: 0, most: 0, beyondLeast: 0 },
    publishToLane: async () => confirms.shift()?.(),
    movedToLane: () => void (moved += 1),
  })
  const { deliver } = createPipeline(
    pipelineDeps({ isolation, post: () => Promise.reject(new Error('it has no turn')) }),
  )
  const run = () => deliver(deliveryTo(slow), 'due')
  await expect(run()).rejects.toThrow('no confirm')
  expect(moved).toBe(0)
  await run()
  expect(moved).toBe(1)
})
