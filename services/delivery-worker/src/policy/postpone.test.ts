import type { Postponement } from '@switchhook/contracts'
import fc from 'fast-check'
import { isPostponedLongEnough, postponedBy, postponeMs } from './postpone.ts'

const WAITS_MS = [10_000, 60_000, 300_000]
const FIRST_MS = 1_800_000_000_000

test.each<[string, Postponement | undefined, number, readonly number[], boolean]>([
  ['was never postponed', undefined, FIRST_MS, WAITS_MS, false],
  [
    'waited for less than the longest wait',
    { waitedMs: 299_999, openUntilMs: FIRST_MS },
    FIRST_MS + 1,
    WAITS_MS,
    false,
  ],
  ['waited as long as the longest wait', { waitedMs: 300_000, openUntilMs: FIRST_MS }, FIRST_MS + 1, WAITS_MS, true],
  ['waited as long, without a failure since', { waitedMs: 300_000, openUntilMs: FIRST_MS }, FIRST_MS, WAITS_MS, false],
  // Redis' clock was set back, or another node of Redis took over.
  [
    'waited as long, for a cool-down that now ends earlier',
    { waitedMs: 300_000, openUntilMs: FIRST_MS },
    5,
    WAITS_MS,
    true,
  ],
  [
    'waited one cool-down, without any wait in the schedule',
    { waitedMs: 1, openUntilMs: FIRST_MS },
    FIRST_MS + 1,
    [],
    true,
  ],
])('a last slot that %s: long enough?', (_what, postponement, openUntilMs, waitsMs, expected) => {
  const delivery = postponement === undefined ? {} : { postponement }
  expect(isPostponedLongEnough(delivery, openUntilMs, waitsMs)).toBe(expected)
})

test('a postponement adds up its waits and keeps the cool-down that it began with', () => {
  const first = postponedBy(30_000, {}, FIRST_MS)
  expect(postponedBy(60_000, { postponement: first }, FIRST_MS + 1)).toEqual({
    waitedMs: 90_000,
    openUntilMs: FIRST_MS,
  })
})

const anyWaitMs = fc.integer({ min: 1, max: 86_400_000 })

test('the last slot for an endpoint that keeps failing waits less than its two longest waits, from whatever count it starts', () => {
  fc.assert(
    fc.property(
      fc.array(anyWaitMs, { maxLength: 12 }),
      anyWaitMs,
      fc.nat({ max: 20 }),
      (waitsMs, cooldownMs, before) => {
        const longestMs = Math.max(0, ...waitsMs)
        let postponement: Postponement | undefined
        for (let postponed = before; ; postponed++) {
          const delivery = postponement === undefined ? {} : { postponement }
          if (isPostponedLongEnough(delivery, FIRST_MS + postponed, waitsMs)) break
          postponement = postponedBy(postponeMs(postponed, waitsMs, cooldownMs), delivery, FIRST_MS + postponed)
        }
        expect(postponement?.waitedMs).toBeGreaterThanOrEqual(longestMs)
        expect(postponement?.waitedMs).toBeLessThan(longestMs + Math.max(longestMs, cooldownMs) + 1)
      },
    ),
  )
})
