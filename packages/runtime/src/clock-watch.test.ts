import { setTimeout as sleep } from 'node:timers/promises'
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

describe('between two comparisons', () => {
  const HOUR_MS = 3_600_000
  const log = { info() {}, warn() {}, error() {} }

  /** How far this process's clock, the uptime and Redis's clock have moved on beyond the monotonic clock, in ms. */
  let jumped: { wall: number; uptime: number; redis: number }
  let isAway: boolean
  let read: number
  let watch: Awaited<ReturnType<typeof startClockWatch>>
  const redisMs = () => NOON_MS + performance.now() + jumped.redis

  beforeEach(async () => {
    jumped = { wall: 0, uptime: 0, redis: 0 }
    isAway = false
    read = 0
    watch = await startClockWatch({
      readServerMs: async () => {
        read += 1
        if (isAway) throw new Error('Redis is away')
        return redisMs()
      },
      now: () => NOON_MS + performance.now() + jumped.wall,
      uptimeMs: () => performance.now() + jumped.uptime,
      everyMs: HOUR_MS,
      metrics: createMetrics('worker'),
      log,
    })
  })

  afterEach(() => watch.stop())

  test.each<[string, { wall: number; uptime: number; redis: number }, number]>([
    ['the machine was suspended', { wall: HOUR_MS, uptime: HOUR_MS, redis: HOUR_MS }, 0],
    ['the clock was set on', { wall: HOUR_MS, uptime: 0, redis: 0 }, 0],
    ['the clock was set back', { wall: -HOUR_MS, uptime: 0, redis: 0 }, 0],
    ['the machine was suspended, and its clock set back', { wall: -HOUR_MS, uptime: 2_000, redis: 2_000 }, 0],
    // Only Redis knows how long.
    ['a hypervisor paused the machine, and set its clock', { wall: HOUR_MS, uptime: 0, redis: HOUR_MS }, HOUR_MS],
  ])('%s: Redis is asked at once, and its time is extrapolated until then', async (_what, jump, lateMs) => {
    jumped = jump
    expect(watch.isFit()).toBe(false)
    const time = [watch.serverNow(), watch.now()] as const
    const offMs = time[0] - redisMs() + lateMs
    expect(offMs).toBeGreaterThan(-100)
    expect(offMs).toBeLessThanOrEqual(0)
    expect(Math.abs(time[1] - redisMs() + lateMs)).toBeLessThan(MAX_EVENT_SKEW_MS + 100)
    // One question for all that found it.
    expect(read).toBe(2)
    await new Promise(setImmediate)
    expect(Math.abs(watch.serverNow() - redisMs())).toBeLessThan(100)
    expect(Math.abs(watch.now() - redisMs())).toBeLessThan(MAX_EVENT_SKEW_MS + 100)
    expect(watch.isFit()).toBe(jump.wall === jump.redis)
    expect(read).toBe(2)
  })

  test.each([-900, 900])('a step of %i ms changes nothing', (stepMs) => {
    jumped = { wall: stepMs, uptime: 0, redis: 0 }
    expect(watch.isFit()).toBe(true)
    expect(Math.abs(watch.serverNow() - redisMs())).toBeLessThan(100)
    expect(read).toBe(1)
  })

  test('while Redis is away after a jump, the clock stays unfit, and the next use asks again', async () => {
    isAway = true
    jumped = { wall: HOUR_MS, uptime: HOUR_MS, redis: HOUR_MS }
    expect(watch.isFit()).toBe(false)
    await new Promise(setImmediate)
    isAway = false
    expect(watch.isFit()).toBe(false)
    await new Promise(setImmediate)
    expect(watch.isFit()).toBe(true)
  })

  test('an answer from before a suspension is not used', async () => {
    const answer = Promise.withResolvers<number>()
    const answers = [Promise.resolve(redisMs()), answer.promise]
    const other = await startClockWatch({
      readServerMs: () => answers.shift() ?? Promise.resolve(redisMs()),
      now: () => NOON_MS + performance.now() + jumped.wall,
      uptimeMs: () => performance.now() + jumped.uptime,
      everyMs: 1,
      metrics: createMetrics('worker'),
      log,
    })
    while (answers.length > 0) await sleep(1)
    const beforeMs = redisMs()
    jumped = { wall: HOUR_MS, uptime: HOUR_MS, redis: HOUR_MS }
    answer.resolve(beforeMs)
    await new Promise(setImmediate)
    expect(Math.abs(other.serverNow() - redisMs())).toBeLessThan(100)
    expect(other.isFit()).toBe(true)
    await other.stop()
  })
})

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
