import * as fc from 'fast-check'
import {
  type Conditions,
  FALL_MS,
  firstPace,
  type Pace,
  planStep,
  RISE_MS,
  type Sample,
  SLOWEST_PER_SECOND,
  UNANSWERED_MS,
} from './pace.ts'

const NOW_MS = 1_000_000
const HEALTHY: Conditions = {
  isEnabled: true,
  health: { state: 'closed', consecutiveFailures: 0, openUntilMs: null },
  sample: { kind: 'none' },
  mostPerSecond: 50,
  stalledMs: 0,
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
  ['a recovery begins with one delivery per second', firstPace(NOW_MS), {}, 1, 1, 1_000],
  ['the rate does not rise without an acknowledgement', at(1, 10 * RISE_MS), {}, 1, 1, 1_000],
  ['the rate does not rise too soon', at(1, RISE_MS - 1), acknowledged, 1, 1, 1_000],
  ['the rate doubles after an acknowledgement', at(1, RISE_MS), acknowledged, 2, 1, 500],
  ['the rate doubles after an earlier acknowledgement', at(4, RISE_MS, true), {}, 8, 1, 125],
  ['the rate stays while an answer is awaited', at(8, RISE_MS - 1), unanswered(UNANSWERED_MS - 1), 8, 1, 125],
  ['a step at a high rate takes several deliveries', at(32, RISE_MS - 1), {}, 32, 6, 187.5],
  ['the rate does not rise above the limit', at(32, RISE_MS, true), {}, 50, 10, 200],
  ['the rate stays at the limit', at(50, RISE_MS, true), acknowledged, 50, 10, 200],
  ['a lowered limit applies at once', at(50, 0), { mostPerSecond: 5 }, 5, 1, 200],
  ['a failure halves the rate', at(32, FALL_MS), failed, 16, 3, 187.5],
  ['failures counted by the circuit breaker halve the rate', at(32, FALL_MS), health('closed', 1, null), 16, 3, 187.5],
  ['a failure does not halve the rate twice', at(16, FALL_MS - 1), failed, 16, 3, 187.5],
  ['the rate never falls below the slowest', at(1, FALL_MS), failed, 1, 1, 1_000],
  [
    'after a cool-down, one delivery is sent as the probe',
    at(32, RISE_MS, true),
    health('probing', 5, NOW_MS - 1),
    1,
    1,
    1_000,
  ],
])('%s', (_name, pace, conditions, perSecond, take, waitMs) => {
  const plan = planStep(pace, { ...HEALTHY, ...conditions })
  expect(plan).toMatchObject({ pace: { perSecond }, take, waitMs, waitingFor: null })
})

test.each<[string, Partial<Conditions>, string, number]>([
  ['a disabled subscription', { isEnabled: false }, 'subscription-enabled', 2_000],
  [
    'a subscription that was disabled for a while',
    { isEnabled: false, stalledMs: 7_000 },
    'subscription-enabled',
    7_000,
  ],
  ['a subscription that stays disabled', { isEnabled: false, stalledMs: 3_600_000 }, 'subscription-enabled', 60_000],
  ['a cool-down', health('open', 5, NOW_MS + 3_000), 'endpoint-cooling-down', 3_000],
  ['a long cool-down, which can end early', health('open', 5, NOW_MS + 60_000), 'endpoint-cooling-down', 5_000],
  [
    'a probe without an answer yet',
    { ...health('probing', 5, NOW_MS - 1), ...unanswered(10) },
    'endpoint-cooling-down',
    1_000,
  ],
  ['missing answers', unanswered(UNANSWERED_MS), 'endpoint-answers', 1_000],
])('%s pauses the recovery, which then begins at the slowest rate', (_name, conditions, waitingFor, waitMs) => {
  const plan = planStep(at(50, RISE_MS, true), { ...HEALTHY, ...conditions })
  expect(plan).toEqual({ pace: firstPace(NOW_MS), take: 0, waitMs, waitingFor })
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
  stalledMs: fc.nat(90_000),
})

test('under any conditions: never faster than the limit, never doubled within the rise time, nothing sent while paused', () => {
  const worlds = fc.array(conditions, { minLength: 1, maxLength: 80 })
  fc.assert(
    fc.property(worlds, fc.integer({ min: 1, max: 1_000 }), (world, mostPerSecond) => {
      let nowMs = NOW_MS
      let pace = firstPace(nowMs)
      const taken: { atMs: number; take: number }[] = []
      for (const each of world) {
        const before = pace
        const plan = planStep(pace, { ...each, mostPerSecond, nowMs })
        expect(plan.pace.perSecond).toBeLessThanOrEqual(mostPerSecond)
        expect(plan.pace.perSecond).toBeGreaterThanOrEqual(SLOWEST_PER_SECOND)
        expect(plan.take === 0).toBe(plan.waitingFor !== null)
        expect(plan.waitMs).toBeGreaterThanOrEqual(100)
        if (!each.isEnabled || each.health.state === 'open') expect(plan.take).toBe(0)
        if (plan.pace.perSecond > before.perSecond) {
          expect(nowMs - before.sinceMs).toBeGreaterThanOrEqual(RISE_MS)
          expect(plan.pace.perSecond).toBeLessThanOrEqual(2 * before.perSecond)
        }
        if (plan.take > 0) taken.push({ atMs: nowMs, take: plan.take })
        pace = plan.pace
        nowMs += plan.waitMs
      }
      const total = taken.reduce((sum, { take }) => sum + take, 0)
      expect(total).toBeLessThanOrEqual((mostPerSecond * (nowMs - NOW_MS)) / 1_000 + 1)
    }),
  )
})

test('a healthy endpoint receives the full rate within half a minute', () => {
  let nowMs = NOW_MS
  let pace = firstPace(nowMs)
  while (pace.perSecond < 50) {
    const plan = planStep(pace, { ...HEALTHY, ...acknowledged, nowMs })
    pace = plan.pace
    nowMs += plan.waitMs
  }
  expect(nowMs - NOW_MS).toBeLessThan(30_000)
})
