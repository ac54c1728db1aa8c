import { type Delivery, deliveryIdOf, newEventId, newSubscriptionId, type SubscriptionId } from '@switchhook/contracts'
import { eventually } from '@switchhook/testkit'
import fc from 'fast-check'
import { createIsolation, laneOf } from './isolate.ts'

const LANES = 16
const slow = newSubscriptionId()
const other = newSubscriptionId()

function aDelivery(subscriptionId: SubscriptionId, attempt = 0): Delivery {
  const eventId = newEventId()
  return {
    deliveryId: deliveryIdOf(eventId, subscriptionId),
    subscriptionId,
    eventId,
    eventType: 'call.status',
    tenant: 'acme',
    url: 'https://client.example/hook',
    run: 1,
    slot: attempt,
    attempt,
    firstDueAt: '2026-01-01T00:00:00.000Z',
    body: Buffer.from('{}'),
  }
}

/** Deliveries that end when a test says so. */
function aWorld(
  cap: number,
  patienceMs = 1,
  withoutTurn: (delivery: Delivery) => Promise<boolean> = async () => false,
) {
  const inHand: { readonly delivery: Delivery; readonly end: (error?: Error) => void }[] = []
  const aside: [Delivery, number][] = []
  const isolation = createIsolation({
    cap,
    lanes: LANES,
    patienceMs,
    deliver: (delivery) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error): void => {
          inHand.splice(
            inHand.findIndex((one) => one.delivery === delivery),
            1,
          )
          if (error === undefined) resolve()
          else reject(error)
        }
        inHand.push({ delivery, end })
      }),
    withoutTurn,
    moveAside: async (delivery, lane) => void aside.push([delivery, lane]),
  })
  const of = (subscription: SubscriptionId): number =>
    inHand.filter(({ delivery }) => delivery.subscriptionId === subscription).length
  return { isolation, inHand, aside, of }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('over its cap a subscription’s deliveries move aside, unchanged, to its own lane; others have their turn', async () => {
  const { isolation, aside, of } = aWorld(2)
  const third = aDelivery(slow)
  void isolation.due(aDelivery(slow))
  void isolation.due(aDelivery(slow))
  await isolation.due(third)
  expect(aside).toEqual([[third, laneOf(slow, LANES)]])
  void isolation.due(aDelivery(other))
  expect([of(slow), of(other)]).toEqual([2, 1])
})

test('a turn that is over is the next one’s, in the order in which they came from the lane', async () => {
  const { isolation, inHand } = aWorld(1)
  const [first, second, third] = [aDelivery(slow), aDelivery(slow), aDelivery(slow)]
  void isolation.due(first)
  void isolation.fromLane(second)
  void isolation.fromLane(third)
  await settled()
  expect(inHand.map(({ delivery }) => delivery)).toEqual([first])
  inHand[0]?.end()
  await settled()
  expect(inHand.map(({ delivery }) => delivery)).toEqual([second])
  inHand[0]?.end()
  await settled()
  expect(inHand.map(({ delivery }) => delivery)).toEqual([third])
})

test('retries leave room that only first attempts may use', async () => {
  const { isolation, aside, of } = aWorld(5)
  await Promise.race([
    Promise.all(Array.from({ length: 6 }, () => isolation.due(aDelivery(slow, 1)))),
    eventually(() => expect([of(slow), aside.length]).toEqual([4, 2])),
  ])
  void isolation.due(aDelivery(slow))
  expect(of(slow)).toBe(5)
})

test('retries get their share however many first attempts keep coming, and first attempts theirs', async () => {
  const { isolation, inHand } = aWorld(5)
  const begun = { first: 0, retry: 0 }
  const comes = (attempt: number): void => {
    void isolation.fromLane(aDelivery(slow, attempt))
  }
  for (let n = 0; n < 50; n++) comes(n % 2)
  for (let n = 0; n < 40; n++) {
    const [one] = inHand
    begun[one?.delivery.attempt === 0 ? 'first' : 'retry'] += 1
    one?.end()
    await settled()
    comes(0)
    const retries = inHand.filter(({ delivery }) => delivery.attempt > 0).length
    expect(retries).toBeLessThanOrEqual(4)
  }
  expect(begun.retry).toBeGreaterThanOrEqual(15)
  expect(begun.first).toBeGreaterThanOrEqual(15)
})

test('a turn that becomes free in a moment is waited for, and no lane is needed', async () => {
  const { isolation, inHand, aside } = aWorld(1, 10_000)
  const [first, second] = [aDelivery(slow), aDelivery(slow)]
  void isolation.due(first)
  void isolation.due(second)
  await settled()
  inHand[0]?.end()
  await settled()
  expect(inHand.map(({ delivery }) => delivery)).toEqual([second])
  expect(aside).toEqual([])
})

test('who has waited in vain shows that it is crowded: the next ones move aside at once, until there is a turn to take', async () => {
  const { isolation, inHand, aside, of } = aWorld(1, 20)
  void isolation.due(aDelivery(slow))
  await isolation.due(aDelivery(slow))
  const startedAt = performance.now()
  await isolation.due(aDelivery(slow))
  expect(performance.now() - startedAt).toBeLessThan(15)
  expect(aside).toHaveLength(2)
  inHand[0]?.end()
  await settled()
  void isolation.due(aDelivery(slow))
  void isolation.due(aDelivery(slow))
  await settled()
  inHand[0]?.end()
  await settled()
  expect([of(slow), aside.length]).toEqual([1, 2])
})

test('one that is never quite empty, but has turns to take, is not crowded any more', async () => {
  const { isolation, inHand, aside, of } = aWorld(2, 20)
  void isolation.due(aDelivery(slow))
  void isolation.due(aDelivery(slow))
  await isolation.due(aDelivery(slow))
  expect(aside).toHaveLength(1)
  for (let n = 0; n < 3; n++) {
    inHand[0]?.end()
    await settled()
    expect(of(slow)).toBe(1)
    void isolation.due(aDelivery(slow))
    void isolation.due(aDelivery(slow))
    await settled()
    inHand[0]?.end()
    await settled()
    expect(of(slow)).toBe(2)
  }
  expect(aside).toHaveLength(1)
})

test('what needs no POST is dealt with while all turns are taken, neither waiting nor moving aside', async () => {
  const first = aDelivery(slow)
  const retry = aDelivery(slow, 2)
  const cooling = [first, retry]
  const done: Delivery[] = []
  const { isolation, inHand, aside } = aWorld(1, 10_000, async (delivery) => {
    if (!cooling.includes(delivery)) return false
    done.push(delivery)
    return true
  })
  void isolation.due(aDelivery(slow))
  await isolation.due(first)
  await isolation.fromLane(retry)
  expect(done).toEqual(cooling)
  expect([inHand.length, aside.length]).toEqual([1, 0])
})

test('a room that was emptied while somebody asked whether a turn is needed has one for them', async () => {
  let answer = (_needsNone: boolean): void => {}
  const { isolation, inHand, of } = aWorld(1, 10_000, () => new Promise((resolve) => (answer = resolve)))
  void isolation.due(aDelivery(slow))
  for (const turn of [isolation.due, isolation.fromLane]) {
    void turn(aDelivery(slow))
    inHand[0]?.end()
    await settled()
    expect(of(slow)).toBe(0)
    answer(false)
    await settled()
    expect(of(slow)).toBe(1)
  }
})

test('with a cap of one, retries and first attempts share it', () => {
  const { isolation, of } = aWorld(1)
  void isolation.due(aDelivery(slow, 3))
  expect(of(slow)).toBe(1)
})

test('trouble of our own is passed on, and gives the turn back', async () => {
  const { isolation, inHand, of } = aWorld(1)
  const failing = isolation.due(aDelivery(slow))
  inHand[0]?.end(new Error('redis is away'))
  await expect(failing).rejects.toThrow('redis is away')
  void isolation.due(aDelivery(slow))
  expect(of(slow)).toBe(1)
})

test('whoever waits when the worker stops goes back to the broker; what is in hand is finished', async () => {
  const { isolation, inHand } = aWorld(1)
  const first = isolation.due(aDelivery(slow))
  const waiting = isolation.fromLane(aDelivery(slow))
  isolation.stop()
  await expect(waiting).rejects.toMatchObject({ dependency: 'rabbitmq' })
  inHand[0]?.end()
  await first
})

test('whatever comes and ends in whatever order, no subscription exceeds its cap, and nothing is forgotten', async () => {
  const move = fc.oneof(
    fc.record({ kind: fc.constantFrom('due', 'lane'), who: fc.constantFrom(slow, other), attempt: fc.nat({ max: 2 }) }),
    fc.record({ kind: fc.constant('end'), at: fc.nat({ max: 10 }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 60 }), async (moves) => {
      const { isolation, inHand, aside, of } = aWorld(3)
      let given = 0
      let over = 0
      const count = (): void => void (over += 1)
      for (const one of moves) {
        if ('who' in one) {
          given += 1
          const turn = one.kind === 'due' ? isolation.due : isolation.fromLane
          void turn(aDelivery(one.who, one.attempt)).then(count)
        } else inHand[one.at % Math.max(1, inHand.length)]?.end()
        await settled()
        expect(Math.max(of(slow), of(other))).toBeLessThanOrEqual(3)
      }
      while (inHand.length > 0) {
        inHand[0]?.end()
        await settled()
      }
      expect(over).toBe(given)
      expect(aside.length).toBeLessThanOrEqual(given)
    }),
    { numRuns: 50 },
  )
})
