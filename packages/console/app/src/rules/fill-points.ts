import type { StatisticsPoint } from '../api/model.ts'

const STEP_MS = { '1m': 60_000, '1h': 3_600_000 } as const

/**
 * One point for every minute or hour of the window. The API leaves out those without an attempt.
 * @param untilMs the end of the window, ms since 1970
 */
export function fillPoints(
  points: readonly StatisticsPoint[],
  step: keyof typeof STEP_MS,
  hours: number,
  untilMs: number,
): StatisticsPoint[] {
  const stepMs = STEP_MS[step]
  const known = new Map(points.map((point) => [Math.floor(Date.parse(point.at) / stepMs), point]))
  const last = Math.floor(untilMs / stepMs)
  const count = (hours * 3_600_000) / stepMs
  return Array.from({ length: count }, (_, index) => {
    const position = last - count + 1 + index
    return known.get(position) ?? { ...NOTHING, at: new Date(position * stepMs).toISOString() }
  })
}

const NOTHING = {
  attempts: 0,
  acknowledged: 0,
  byOutcome: {},
  parked: 0,
  expired: 0,
  answerMs: null,
  delayMs: null,
} as const

/**
 * A percentile of answer times. It is an estimate, in which an endpoint that hangs can seem to take longer than the deadline;
 * no attempt does.
 * @param deadlineMs undefined: not known
 */
export const answerTimeMs = (estimateMs: number, deadlineMs: number | undefined): number =>
  Math.min(estimateMs, deadlineMs ?? estimateMs)
