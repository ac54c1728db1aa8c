import { aDelivery } from '@switchhook/testkit'
import fc from 'fast-check'
import { type PostResult, QUICK_MS, SubscriptionTurns, type TurnLimits } from './subscription-turns.ts'

const LIMITS: TurnLimits = { least: 10, most: 100, beyondLeast: 100 }
const QUICK: PostResult = { durationMs: 20, isFailure: false }

/** Subscriptions of one worker, whose deliveries are first attempts. */
function aWorld(limits: TurnLimits = LIMITS, subscriptions = 1) {
  const world = { nowMs: 1_000 }
  function countFull() {
    const sizes = all.map(({ taken }) => taken.size).filter((size) => size >= limits.least)
    return { full: sizes.length, takenBeyond: sizes.reduce((sum, size) => sum + size - limits.least, 0) }
  }
  const all = Array.from(
    { length: subscriptions },
    () => new SubscriptionTurns({ limits, nowMs: () => world.nowMs, countFull }),
  )
  const take = (turns = all[0]): boolean => {
    const isFree = turns?.isFree(false) ?? false
    if (isFree) turns?.take(aDelivery())
    return isFree
  }
  const takeAll = (turns = all[0]): number => {
    while (take(turns));
    return turns?.taken.size ?? 0
  }
  const end = (result: PostResult, turns = all[0]): void => {
    turns?.earn(result)
    for (const delivery of [...(turns?.taken ?? [])].slice(0, 1)) turns?.end(delivery)
  }
  return { world, all, take, takeAll, end, countFull }
}

/** With the turns earned by quick answers that each find all turns taken, and all of them taken. */
function grown(answers: number, limits = LIMITS) {
  const one = aWorld(limits)
  one.takeAll()
  for (let n = 0; n < answers; n++) {
    one.end(QUICK)
    one.takeAll()
  }
  return one
}

test('each quick answer that finds all turns taken adds one, up to the most', () => {
  expect([0, 1, 50, 90, 500].map((answers) => grown(answers).takeAll())).toEqual([10, 11, 60, 100, 100])
})

test('a quick answer while turns are free adds none', () => {
  const { end, takeAll } = grown(5)
  for (let n = 0; n < 3; n++) end(QUICK)
  expect(takeAll()).toBe(16)
})

test.each<[string, PostResult]>([
  ['a slow answer', { durationMs: QUICK_MS, isFailure: false }],
  ['a failure', { durationMs: 1, isFailure: true }],
])('%s takes back all further turns in one step', (_name, answer) => {
  const { all, end, take } = grown(90)
  end(answer)
  for (const delivery of [...(all[0]?.taken ?? [])].slice(9)) all[0]?.end(delivery)
  expect([take(), take()]).toEqual([true, false])
})

test('an endpoint that stops answering keeps its further turns no longer than a quick answer takes', () => {
  const { world, end, take } = grown(40)
  end(QUICK)
  world.nowMs += QUICK_MS - 1
  expect(take()).toBe(true)
  world.nowMs += 1
  expect(take()).toBe(false)
})

test('a most below the least changes nothing', () => {
  expect(grown(1, { ...LIMITS, most: 3 }).takeAll()).toBe(10)
})

test('below the least, other subscriptions do not matter', () => {
  const { all, takeAll, end } = aWorld({ least: 10, most: 100, beyondLeast: 1 }, 2)
  takeAll()
  end(QUICK)
  expect([takeAll(), takeAll(all[1])]).toEqual([11, 10])
})

test('in any order: never above the most, further turns shared equally and bounded, and none after a slow answer', () => {
  const step = fc.record({
    who: fc.nat({ max: 2 }),
    kind: fc.constantFrom('take', 'take', 'take', 'answer'),
    durationMs: fc.oneof({ weight: 30, arbitrary: fc.nat({ max: QUICK_MS - 1 }) }, fc.nat({ max: 10_000 })),
    isFailure: fc.oneof({ weight: 30, arbitrary: fc.constant(false) }, fc.boolean()),
    passMs: fc.oneof({ weight: 9, arbitrary: fc.nat({ max: 3 }) }, fc.nat({ max: 300 })),
  })
  const limitsOf = fc.record({
    least: fc.integer({ min: 1, max: 3 }),
    most: fc.nat({ max: 12 }),
    beyondLeast: fc.nat(6),
  })
  fc.assert(
    fc.property(limitsOf, fc.array(step, { maxLength: 300 }), (limits, steps) => {
      const { least, most } = limits
      const { world, all, take, end, countFull } = aWorld(limits, 3)
      for (const { who, kind, durationMs, isFailure, passMs } of steps) {
        world.nowMs += passMs
        const turns = all[who] ?? new SubscriptionTurns({ limits, nowMs: () => 0, countFull })
        if (kind === 'take') {
          const { full } = countFull()
          // Its share, while as many subscriptions have all their turns taken.
          if (take(turns) && turns.taken.size > least) {
            expect(turns.taken.size - least).toBeLessThanOrEqual(Math.floor(limits.beyondLeast / full))
          }
        } else if (turns.taken.size > 0) {
          end({ durationMs, isFailure }, turns)
          if ((isFailure || durationMs >= QUICK_MS) && turns.taken.size >= least) expect(take(turns)).toBe(false)
        }
        expect(turns.taken.size).toBeLessThanOrEqual(Math.max(least, most))
        expect(countFull().takenBeyond).toBeLessThanOrEqual(limits.beyondLeast)
      }
    }),
    { numRuns: 300 },
  )
})
