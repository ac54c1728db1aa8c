import type { StatisticsPoint } from '../api/model.ts'
import { answerTimeMs, fillPoints } from './statistics.ts'

const point = (at: string, attempts: number): StatisticsPoint => ({
  at,
  attempts,
  acknowledged: 0,
  byOutcome: {},
  parked: 0,
  expired: 0,
  answerMs: null,
  delayMs: null,
})

test('an hour has a point for every minute, the last one included', () => {
  const points = [point('2026-11-20T11:30:00.000Z', 3), point('2026-11-20T12:00:00.000Z', 4)]
  const filled = fillPoints(points, '1m', 1, Date.parse('2026-11-20T12:00:30Z'))
  expect(filled).toHaveLength(60)
  expect(filled[0]?.at).toBe('2026-11-20T11:01:00.000Z')
  expect(filled.filter(({ attempts }) => attempts > 0)).toEqual(points)
  expect(filled.at(-1)).toEqual(points[1])
})

test('a week has a point for every hour', () => {
  expect(fillPoints([], '1h', 168, Date.parse('2026-11-20T12:00:30Z'))).toHaveLength(168)
})

test('an answer time is never longer than the deadline', () => {
  expect([answerTimeMs(20_000, 10_000), answerTimeMs(31, 10_000), answerTimeMs(31, undefined)]).toEqual([
    10_000, 31, 31,
  ])
})
