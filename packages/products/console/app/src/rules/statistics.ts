import type { StatisticsPoint } from '../api/model.ts'

const STEP_MS = { '1m': 60_000, '1h': 3_600_000 } as const

/** One point for every minute or hour until `untilMs`. The API leaves out those without an attempt. */
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

const NOTHING = { attempts: 0, acknowledged: 0, byOutcome: {}, parked: 0, expired: 0, answerMs: null, delayMs: null }

/** The estimate of a percentile can lie above the deadline (undefined: not known); no attempt takes longer. */
export const answerTimeMs = (estimateMs: number, deadlineMs: number | undefined): number =>
  Math.min(estimateMs, deadlineMs ?? estimateMs)

export const sumOf = <Name extends string>(items: readonly Readonly<Record<Name, number>>[], name: Name): number =>
  items.reduce((sum, item) => sum + item[name], 0)
