import * as fc from 'fast-check'
import { type Conditions, firstPace, planStep, RISE_MS, UNANSWERED_MS } from './pace.ts'

const NOW_MS = 1_000_000
const HEALTHY: Conditions = {
  isEnabled: true,
  isPaused: false,
  health: { state: 'closed', consecutiveFailures: 0, openUntilMs: null, recentHangs: 0 },
  unansweredMs: null,
  mostPerSecond: 50,
  stalledMs: 0,
  nowMs: NOW_MS,
}
const health = (state: 'open' | 'probing' | 'closed', openUntilMs: number | null) => ({
  health: { state, consecutiveFailures: 5, openUntilMs, recentHangs: 0 },
})

test.each<[string, number, Partial<Conditions>, number, number, number]>([
  ['a recovery begins with one delivery per second', 0, {}, 1, 1, 1_000],
  ['the rate does not rise too soon', RISE_MS - 1, {}, 1, 1, 1_000],
  ['the rate doubles', RISE_MS, {}, 2, 1, 500],
  ['the rate doubles while an answer is awaited', 3 * RISE_MS, { unansweredMs: UNANSWERED_MS - 1 }, 8, 1, 125],
  ['a step at a high rate takes several deliveries', 5 * RISE_MS, {}, 32, 6, 187.5],
  ['the rate does not rise above the limit', 6 * RISE_MS, {}, 50, 10, 200],
  ['the rate stays at the limit for as long as it lasts', 1e12, {}, 50, 10, 200],
  ['a lowered limit applies immediately', 1e12, { mostPerSecond: 5 }, 5, 1, 200],
  ['a pace that begins in the future, by the clock of another replica, is the slowest', -9_000, {}, 1, 1, 1_000],
  ['after a cool-down, one delivery is sent as the probe', 1e12, health('probing', NOW_MS - 1), 1, 1, 1_000],
])('%s', (_name, forMs, conditions, perSecond, take, waitMs) => {
  const plan = planStep({ perSecond: 1, sinceMs: NOW_MS - forMs }, { ...HEALTHY, ...conditions })
  expect(plan).toMatchObject({ pace: { perSecond }, take, waitMs, waitingFor: null })
})

test('a pace that begins in the future, by the clock of another replica, begins now', () => {
  const plan = planStep({ perSecond: 1, sinceMs: NOW_MS + 3_600_000 }, HEALTHY)
  expect(plan.pace.sinceMs).toBe(NOW_MS)
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
  ['a paused subscription', { isPaused: true }, 'subscription-resumed', 2_000],
  ['a subscription that stays paused', { isPaused: true, stalledMs: 3_600_000 }, 'subscription-resumed', 60_000],
  ['a cool-down', health('open', NOW_MS + 3_000), 'endpoint-cooling-down', 3_000],
  ['a long cool-down, which can end early', health('open', NOW_MS + 60_000), 'endpoint-cooling-down', 5_000],
  [
    'a probe without an answer yet',
    { ...health('probing', NOW_MS - 1), unansweredMs: 0 },
    'endpoint-cooling-down',
    1_000,
  ],
  ['a missing result', { unansweredMs: UNANSWERED_MS }, 'endpoint-answers', 1_000],
])('%s pauses the recovery, which then begins at the slowest rate', (_name, conditions, waitingFor, waitMs) => {
  const plan = planStep({ perSecond: 50, sinceMs: 0 }, { ...HEALTHY, ...conditions })
  expect(plan).toEqual({ pace: firstPace(NOW_MS + waitMs), take: 0, waitMs, waitingFor })
})

test('a probe keeps the rate at the slowest until the breaker is closed', () => {
  const probing = planStep({ perSecond: 1, sinceMs: 0 }, { ...HEALTHY, ...health('probing', NOW_MS - 1) })
  expect(planStep(probing.pace, { ...HEALTHY, nowMs: NOW_MS + 1_000 })).toMatchObject({ take: 1, waitMs: 1_000 })
})

const conditions = fc.record({
  isEnabled: fc.boolean(),
  isPaused: fc.boolean(),
  health: fc.record({
    state: fc.constantFrom('closed' as const, 'open' as const, 'probing' as const),
    consecutiveFailures: fc.nat(9),
    openUntilMs: fc.option(fc.integer({ min: NOW_MS - 60_000, max: NOW_MS + 60_000 })),
    recentHangs: fc.constant(0),
  }),
  unansweredMs: fc.option(fc.nat(90_000)),
  stalledMs: fc.nat(90_000),
})

test('under any conditions: never faster than the limit, never doubled within the rise time, nothing sent while paused', () => {
  const worlds = fc.array(conditions, { minLength: 1, maxLength: 80 })
  fc.assert(
    fc.property(worlds, fc.integer({ min: 1, max: 1_000 }), (world, mostPerSecond) => {
      let nowMs = NOW_MS
      let pace = firstPace(nowMs)
      let total = 0
      for (const each of world) {
        const plan = planStep(pace, { ...each, mostPerSecond, nowMs })
        expect(plan.take === 0).toBe(plan.waitingFor !== null)
        expect(plan.waitMs).toBeGreaterThanOrEqual(100)
        expect(plan.pace.perSecond).toBeGreaterThanOrEqual(1)
        expect(plan.pace.perSecond).toBeLessThanOrEqual(
          Math.min(mostPerSecond, 2 ** Math.max(0, (nowMs - plan.pace.sinceMs) / RISE_MS)),
        )
        if (!each.isEnabled || each.isPaused || each.health.state === 'open') expect(plan.take).toBe(0)
        total += plan.take
        pace = plan.pace
        nowMs += plan.waitMs
      }
      expect(total).toBeLessThanOrEqual((mostPerSecond * (nowMs - NOW_MS)) / 1_000 + 1)
    }),
  )
})
