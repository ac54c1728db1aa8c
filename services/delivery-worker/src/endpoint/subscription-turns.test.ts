import fc from 'fast-check'
import {
  type EarnedTurns,
  earnedAfter,
  type PostResult,
  QUICK_MS,
  type TurnLimits,
  turnsAt,
  turnsWithin,
} from './subscription-turns.ts'

const LIMITS: TurnLimits = { least: 10, most: 100, beyondLeast: 100 }
const QUICK: PostResult = { durationMs: 20, isFailure: false }

/** The turns earned by quick answers that each find all turns taken. */
function grown(answers: number, nowMs = 0): EarnedTurns {
  let earned: EarnedTurns
  for (let n = 0; n < answers; n++) earned = earnedAfter(earned, QUICK, { taken: 1_000, nowMs, limits: LIMITS })
  return earned
}

test('each quick answer that finds all turns taken adds one, up to the most', () => {
  expect([0, 1, 50, 90, 500].map((answers) => turnsAt(grown(answers), 0, LIMITS))).toEqual([10, 11, 60, 100, 100])
})

test('a quick answer while turns are free adds none', () => {
  const earned = earnedAfter(grown(5), QUICK, { taken: 14, nowMs: 0, limits: LIMITS })
  expect(turnsAt(earned, 0, LIMITS)).toBe(15)
})

test.each<[string, PostResult]>([
  ['a slow answer', { durationMs: QUICK_MS, isFailure: false }],
  ['a failure', { durationMs: 1, isFailure: true }],
])('%s takes back all further turns in one step', (_name, answer) => {
  expect(turnsAt(earnedAfter(grown(90), answer, { taken: 100, nowMs: 0, limits: LIMITS }), 0, LIMITS)).toBe(10)
})

test('an endpoint that stops answering keeps its further turns no longer than a quick answer takes', () => {
  const earned = grown(90, 1_000)
  expect(turnsAt(earned, 1_000 + QUICK_MS - 1, LIMITS)).toBe(100)
  expect(turnsAt(earned, 1_000 + QUICK_MS, LIMITS)).toBe(10)
})

test('a most below the least changes nothing', () => {
  const limits = { ...LIMITS, most: 3 }
  expect(turnsAt(earnedAfter(undefined, QUICK, { taken: 10, nowMs: 0, limits }), 0, limits)).toBe(10)
})

test('below the least, other subscriptions do not matter', () => {
  expect(turnsWithin(10, 9, () => ({ full: 30, takenBeyond: 100 }), LIMITS)).toBe(10)
})

test('while others have taken all further turns, none is added, whatever the share', () => {
  expect(turnsWithin(100, 30, () => ({ full: 2, takenBeyond: 100 }), LIMITS)).toBe(30)
})

interface Room {
  taken: number
  earned: EarnedTurns
}

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
      const { least, most, beyondLeast } = limits
      const rooms: Room[] = Array.from({ length: 3 }, () => ({ taken: 0, earned: undefined }))
      const beyond = (): number => rooms.reduce((sum, { taken }) => sum + Math.max(0, taken - least), 0)
      const full = (): number => rooms.filter(({ taken }) => taken >= least).length
      let nowMs = 0
      for (const { who, kind, durationMs, isFailure, passMs } of steps) {
        nowMs += passMs
        const room = rooms[who]
        if (room === undefined) continue
        if (kind === 'take') {
          const known = { full: full(), takenBeyond: beyond() }
          const turns = turnsWithin(turnsAt(room.earned, nowMs, limits), room.taken, () => known, limits)
          if (room.taken >= turns) continue
          room.taken += 1
          if (room.taken > least) {
            // Its share, while as many subscriptions have all their turns taken.
            expect(room.taken - least).toBeLessThanOrEqual(Math.floor(beyondLeast / known.full))
          }
        } else if (room.taken > 0) {
          room.earned = earnedAfter(room.earned, { durationMs, isFailure }, { taken: room.taken, nowMs, limits })
          room.taken -= 1
          if (isFailure || durationMs >= QUICK_MS) expect(turnsAt(room.earned, nowMs, limits)).toBe(least)
        }
        expect(room.taken).toBeLessThanOrEqual(Math.max(least, most))
        expect(beyond()).toBeLessThanOrEqual(beyondLeast)
        expect(turnsAt(room.earned, nowMs + QUICK_MS, limits)).toBe(least)
      }
    }),
    { numRuns: 300 },
  )
})
