import { timeUntilUnused } from './unused-time.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const NOW_MS = Date.parse('2026-11-20T12:00:00.000Z')

/** Each argument in ms before now. */
const left = (uptime: readonly [from: number, until: number][], usedMs: number, allowedMs: number): number =>
  timeUntilUnused(
    { nowMs: NOW_MS, periods: uptime.map(([from, until]) => ({ fromMs: NOW_MS - from, untilMs: NOW_MS - until })) },
    NOW_MS - usedMs,
    allowedMs,
  )

test.each<[string, [from: number, until: number][], usedMs: number, allowedMs: number, expectedMs: number]>([
  ['without an outage, all time counts', [[9 * DAY_MS, 0]], 7 * DAY_MS, 7 * DAY_MS, 0],
  ['without an outage, the rest is left', [[9 * DAY_MS, 0]], 45_000, MINUTE_MS, 15_000],
  ['time before the first sign of life does not count', [[15_000, 0]], DAY_MS, MINUTE_MS, 45_000],
  ['no sign of life yet', [], DAY_MS, MINUTE_MS, MINUTE_MS],
  ['the api has returned and not noted it yet', [[DAY_MS, 75_000]], 76_000, MINUTE_MS, MINUTE_MS],
  [
    'after an outage, a short time begins again',
    [
      [DAY_MS, 76_000],
      [1_000, 0],
    ],
    77_000,
    MINUTE_MS,
    59_000,
  ],
  [
    'after an outage of three days',
    [
      [9 * DAY_MS, 4 * DAY_MS],
      [DAY_MS, 0],
    ],
    6 * DAY_MS,
    7 * DAY_MS,
    4 * DAY_MS,
  ],
  [
    'a client has an hour to return',
    [
      [30 * DAY_MS, DAY_MS],
      [1_000, 0],
    ],
    9 * DAY_MS,
    7 * DAY_MS,
    HOUR_MS - 1_000,
  ],
  [
    'outages do not prolong it without end',
    [
      [30 * DAY_MS, DAY_MS],
      [2 * HOUR_MS, 0],
    ],
    9 * DAY_MS,
    7 * DAY_MS,
    -HOUR_MS,
  ],
  ['after a restore from a backup of a month ago', [[60 * DAY_MS, 30 * DAY_MS]], 37 * DAY_MS - 1, 7 * DAY_MS, HOUR_MS],
  [
    'used after the outage',
    [
      [DAY_MS, HOUR_MS],
      [10 * MINUTE_MS, 0],
    ],
    10_000,
    MINUTE_MS,
    50_000,
  ],
  ['another host notes the use a moment ahead', [[DAY_MS, 0]], -200, MINUTE_MS, MINUTE_MS],
])('%s', (_name, uptime, usedMs, allowedMs, expectedMs) => expect(left(uptime, usedMs, allowedMs)).toBe(expectedMs))
