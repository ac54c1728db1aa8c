import * as fc from 'fast-check'
import {
  type Conditions,
  FALL_MS,
  firstPace,
  type Pace,
  RISE_MS,
  type Sample,
  SLOWEST_PER_SECOND,
  takeTurn,
  UNANSWERED_MS,
} from './pace.ts'

const NOW_MS = 1_000_000
const WELL: Conditions = {
  isEnabled: true,
  health: { state: 'closed', consecutiveFailures: 0, openUntilMs: null },
  sample: { kind: 'none' },
  mostPerSecond: 50,
  stillMs: 0,
  nowMs: NOW_MS,
}
const health = (state: 'open' | 'probing' | 'closed', consecutiveFailures: number, openUntilMs: number | null) => ({
  health: { state, consecutiveFailures, openUntilMs },
})
const at = (perSecond: number, forMs: number, isProven = false): Pace => ({
  perSecond,
  sinceMs: NOW_MS - forMs,
  isProven,
})
const acknowledged = { sample: { kind: 'acknowledged' } } as const
const failed = { sample: { kind: 'failed' } } as const
const unanswered = (forMs: number) => ({ sample: { kind: 'unanswered', sinceMs: NOW_MS - forMs } }) as const

test.each<[string, Pace, Partial<Conditions>, number, number, number]>([
  ['it begins with one a second', firstPace(NOW_MS), {}, 1, 1, 1_000],
  ['it does not rise by time alone', at(1, 10 * RISE_MS), {}, 1, 1, 1_000],
  ['it does not rise too soon', at(1, RISE_MS - 1), acknowledged, 1, 1, 1_000],
  ['it doubles when something was acknowledged', at(1, RISE_MS), acknowledged, 2, 1, 500],
  ['it doubles when something was acknowledged before', at(4, RISE_MS, true), {}, 8, 1, 125],
  ['while the next answer is due, it goes on', at(8, RISE_MS - 1), unanswered(UNANSWERED_MS - 1), 8, 1, 125],
  ['fast ones take several at once', at(32, RISE_MS - 1), {}, 32, 6, 187.5],
  ['it does not rise above the limit', at(32, RISE_MS, true), {}, 50, 10, 200],
  ['it stays at the limit', at(50, RISE_MS, true), acknowledged, 50, 10, 200],
  ['a limit that was lowered holds at once', at(50, 0), { mostPerSecond: 5 }, 5, 1, 200],
  ['a failure halves it', at(32, FALL_MS), failed, 16, 3, 187.5],
  ['failures that the breaker has counted halve it', at(32, FALL_MS), health('closed', 1, null), 16, 3, 187.5],
  ['one failure is not counted twice', at(16, FALL_MS - 1), failed, 16, 3, 187.5],
  ['it never falls below the slowest', at(1, FALL_MS), failed, 1, 1, 1_000],
  ['after a cool-down, one goes first', at(32, RISE_MS, true), health('probing', 5, NOW_MS - 1), 1, 1, 1_000],
])('%s', (_name, pace, conditions, perSecond, take, waitMs) => {
  const turn = takeTurn(pace, { ...WELL, ...conditions })
  expect(turn).toMatchObject({ pace: { perSecond }, take, waitMs, waitingFor: null })
})

test.each<[string, Partial<Conditions>, string, number]>([
  ['a disabled subscription', { isEnabled: false }, 'subscription-enabled', 2_000],
  ['one that has been disabled for a while', { isEnabled: false, stillMs: 7_000 }, 'subscription-enabled', 7_000],
  ['one that stays disabled', { isEnabled: false, stillMs: 3_600_000 }, 'subscription-enabled', 60_000],
  ['a cool-down', health('open', 5, NOW_MS + 3_000), 'endpoint-cooling-down', 3_000],
  ['a long cool-down, which may end early', health('open', 5, NOW_MS + 60_000), 'endpoint-cooling-down', 5_000],
  ['the probe', { ...health('probing', 5, NOW_MS - 1), ...unanswered(10) }, 'endpoint-cooling-down', 1_000],
  ['answers that do not come', unanswered(UNANSWERED_MS), 'endpoint-answers', 1_000],
])('%s holds it, and it begins at the bottom again', (_name, conditions, waitingFor, waitMs) => {
  const turn = takeTurn(at(50, RISE_MS, true), { ...WELL, ...conditions })
  expect(turn).toEqual({ pace: firstPace(NOW_MS), take: 0, waitMs, waitingFor })
})

const sample = fc.oneof(
  fc.constantFrom<Sample>({ kind: 'none' }, { kind: 'acknowledged' }, { kind: 'failed' }),
  fc.integer({ min: 0, max: 90_000 }).map((forMs): Sample => ({ kind: 'unanswered', sinceMs: NOW_MS - forMs })),
)
const conditions = fc.record({
  isEnabled: fc.boolean(),
  health: fc.record({
    state: fc.constantFrom('closed' as const, 'open' as const, 'probing' as const),
    consecutiveFailures: fc.nat(9),
    openUntilMs: fc.option(fc.integer({ min: NOW_MS - 60_000, max: NOW_MS + 60_000 })),
  }),
  sample,
  stillMs: fc.nat(90_000),
})

test('whatever happens: never faster than the limit, never twice as fast within the time of a rise, nothing during a hold', () => {
  const worlds = fc.array(conditions, { minLength: 1, maxLength: 80 })
  fc.assert(
    fc.property(worlds, fc.integer({ min: 1, max: 1_000 }), (world, mostPerSecond) => {
      let nowMs = NOW_MS
      let pace = firstPace(nowMs)
      const taken: { atMs: number; take: number }[] = []
      for (const each of world) {
        const before = pace
        const turn = takeTurn(pace, { ...each, mostPerSecond, nowMs })
        expect(turn.pace.perSecond).toBeLessThanOrEqual(mostPerSecond)
        expect(turn.pace.perSecond).toBeGreaterThanOrEqual(SLOWEST_PER_SECOND)
        expect(turn.take === 0).toBe(turn.waitingFor !== null)
        expect(turn.waitMs).toBeGreaterThanOrEqual(100)
        if (!each.isEnabled || each.health.state === 'open') expect(turn.take).toBe(0)
        if (turn.pace.perSecond > before.perSecond) {
          expect(nowMs - before.sinceMs).toBeGreaterThanOrEqual(RISE_MS)
          expect(turn.pace.perSecond).toBeLessThanOrEqual(2 * before.perSecond)
        }
        if (turn.take > 0) taken.push({ atMs: nowMs, take: turn.take })
        pace = turn.pace
        nowMs += turn.waitMs
      }
      const total = taken.reduce((sum, { take }) => sum + take, 0)
      expect(total).toBeLessThanOrEqual((mostPerSecond * (nowMs - NOW_MS)) / 1_000 + 1)
    }),
  )
})

test('an endpoint that stays well is sent to at full pace within half a minute', () => {
  let nowMs = NOW_MS
  let pace = firstPace(nowMs)
  while (pace.perSecond < 50) {
    const turn = takeTurn(pace, { ...WELL, ...acknowledged, nowMs })
    pace = turn.pace
    nowMs += turn.waitMs
  }
  expect(nowMs - NOW_MS).toBeLessThan(30_000)
})
