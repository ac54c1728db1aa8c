import * as fc from 'fast-check'
import {
  type ClockState,
  classifySkew,
  MAX_EVENT_SKEW_MS,
  SKEWED_MS,
  skewOf,
  startClockWatch,
  UNFIT_MS,
} from './clock-watch.ts'
import { createMetrics } from './metrics.ts'

const NOON_MS = Date.UTC(2026, 10, 20, 12)

test.each<[string, number, number, ClockState]>([
  ['the clocks agree', 0, 0, 'fits'],
  ['ahead by a second', 1_000, 0, 'fits'],
  ['ahead by more than a second', 1_001, 0, 'skewed'],
  ['behind by more than a second', -1_001, 0, 'skewed'],
  ['ahead by a minute', 60_000, 0, 'skewed'],
  ['ahead by more than a minute', 60_001, 0, 'unfit'],
  ['behind by an hour', -3_600_000, 0, 'unfit'],
  ['a second and a half off, with a round trip of three seconds', 1_500, 3_000, 'fits'],
  ['three seconds off, with a round trip of three seconds', 3_000, 3_000, 'skewed'],
  ['61 seconds off, with a round trip of three seconds', 61_000, 3_000, 'skewed'],
  ['62 seconds off, with a round trip of three seconds', 62_000, 3_000, 'unfit'],
])('%s: offset %i ms, round trip %i ms: %s', (_case, offsetMs, roundTripMs, state) => {
  const localMs = NOON_MS + offsetMs + roundTripMs / 2
  expect(classifySkew(skewOf({ localMs, serverMs: NOON_MS, roundTripMs }))).toBe(state)
})

test('the true skew is within the tolerance, whenever during the round trip Redis read its clock', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -1e7, max: 1e7 }),
      fc.integer({ min: 0, max: 5_000 }),
      fc.integer({ min: 0, max: 5_000 }),
      (offsetMs, beforeMs, afterMs) => {
        // By Redis's clock: the question is sent at noon, read `beforeMs` later, and the answer arrives `afterMs` after that.
        const reading = {
          localMs: NOON_MS + beforeMs + afterMs + offsetMs,
          serverMs: NOON_MS + beforeMs,
          roundTripMs: beforeMs + afterMs,
        }
        const { skewMs, toleranceMs } = skewOf(reading)
        expect(Math.abs(skewMs - offsetMs)).toBeLessThanOrEqual(toleranceMs)
        const state = classifySkew({ skewMs, toleranceMs })
        if (Math.abs(offsetMs) <= SKEWED_MS) expect(state).toBe('fits')
        if (Math.abs(offsetMs) <= UNFIT_MS) expect(state).not.toBe('unfit')
      },
    ),
  )
})

test.each([-3_600_000, -45_000, 45_000, 3_600_000])(
  'the time of Redis is known to a process whose clock is %i ms ahead, and is never early',
  async (aheadMs) => {
    let redisMs = NOON_MS
    const log = { info() {}, warn() {}, error() {} }
    const readServerMs = async () => redisMs
    const deps = { readServerMs, now: () => redisMs + aheadMs, metrics: createMetrics('worker'), log }
    const startedAt = performance.now()
    const watch = await startClockWatch({ ...deps, everyMs: 3_600_000 })
    redisMs += 1_000
    expect(watch.serverNow()).toBeGreaterThanOrEqual(NOON_MS)
    expect(watch.serverNow()).toBeLessThanOrEqual(NOON_MS + performance.now() - startedAt + 1_000)
    await watch.stop()
  },
)

describe('the time for events', () => {
  const HOUR_MS = 3_600_000
  /** How far this process's clock is ahead of Redis's. */
  let aheadMs: number
  const now = () => NOON_MS + performance.now() + aheadMs

  /** How far the time for events is ahead of Redis's clock. */
  async function eventsAheadMs(atFirstMs: number, laterMs: number): Promise<number> {
    aheadMs = atFirstMs
    const log = { info() {}, warn() {}, error() {} }
    const readServerMs = async () => NOON_MS + performance.now()
    const watch = await startClockWatch({ readServerMs, now, metrics: createMetrics('api'), log, everyMs: HOUR_MS })
    aheadMs = laterMs
    const serverMs = await readServerMs()
    const eventsMs = watch.now()
    await watch.stop()
    return eventsMs - serverMs
  }

  test.each([
    ['was ahead from the start', HOUR_MS, HOUR_MS],
    ['was set after the last comparison', 0, HOUR_MS],
    ['was behind from the start', -HOUR_MS, -HOUR_MS],
    ['was set back after the last comparison', 0, -HOUR_MS],
  ])('of a process whose clock %s by an hour is seconds off', async (_when, atFirstMs, laterMs) => {
    const offMs = Math.abs(await eventsAheadMs(atFirstMs, laterMs))
    expect(offMs).toBeGreaterThan(MAX_EVENT_SKEW_MS - 10)
    expect(offMs).toBeLessThan(MAX_EVENT_SKEW_MS + 2_000)
  })

  test.each([-2_000, 2_000])('is that of a clock that is %i ms ahead', async (offMs) => {
    expect(Math.abs((await eventsAheadMs(offMs, offMs)) - offMs)).toBeLessThan(MAX_EVENT_SKEW_MS / 2)
  })
})
