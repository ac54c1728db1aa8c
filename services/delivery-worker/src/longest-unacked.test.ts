import * as fc from 'fast-check'
import { BROKER_CONSUMER_TIMEOUT_MS, longestDeliveryTimeoutMs, longestUnackedMs } from './longest-unacked.ts'

// Held for 610 s, then 2 rounds and those of the lane; each is the deadline, 36 s for Redis and 10 s for a confirm.
test.each<[string, number, number, number]>([
  ['the default: 40 in a lane, 8 turns for retries', 10_000, 10, 610_000 + 7 * 56_000],
  ['one turn for all', 10_000, 1, 610_000 + 6 * 56_000],
  ['two turns, one of them for retries', 10_000, 2, 610_000 + 10 * 56_000],
  ['three turns, two of them for retries', 10_000, 3, 610_000 + 8 * 56_000],
  ['many turns', 10_000, 1_000, 610_000 + 7 * 56_000],
  ['a long deadline', 300_000, 10, 610_000 + 7 * 346_000],
])('%s', (_what, deliveryTimeoutMs, cap, expected) => {
  expect(longestUnackedMs(deliveryTimeoutMs, cap)).toBe(expected)
})

test('the longest deadline is the last one that fits', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000 }), (cap) => {
      const longestMs = longestDeliveryTimeoutMs(cap)
      expect(longestMs).toBeGreaterThan(60_000)
      expect(longestUnackedMs(longestMs, cap)).toBeLessThanOrEqual(BROKER_CONSUMER_TIMEOUT_MS)
      expect(longestUnackedMs(longestMs + 1, cap)).toBeGreaterThan(BROKER_CONSUMER_TIMEOUT_MS)
    }),
  )
})
