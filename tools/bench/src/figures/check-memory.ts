import { median, round, slope } from '../measure/statistics.ts'

export type MemorySample = readonly [seconds: number, mib: number]

export interface MemoryVerdict {
  readonly startMib: number
  /** Medians of the first and the last quarter after the warm-up. */
  readonly warmMib: number
  readonly endMib: number
  readonly mostMib: number
  /** Slope of the straight line through all samples after the warm-up. */
  readonly mibPerMinute: number
  readonly isFlat: boolean
}

/** During the first part of the load the heap finds its size. */
const WARM_UP_PART = 1 / 3
/** Tolerance for garbage that is not collected yet. */
const FLAT_WITHIN = 0.1

/** Whether memory stays flat after `fromSeconds` and the warm-up. */
export function checkMemory(samples: readonly MemorySample[], fromSeconds: number): MemoryVerdict {
  const lastSeconds = samples.at(-1)?.[0] ?? 0
  const warmFrom = fromSeconds + (lastSeconds - fromSeconds) * WARM_UP_PART
  const warm = samples.filter(([seconds]) => seconds >= warmFrom)
  const quarter = Math.max(1, Math.ceil(warm.length / 4))
  const medianMib = (part: readonly MemorySample[]): number => round(median(part.map(([, mib]) => mib)))
  const [warmMib, endMib] = [medianMib(warm.slice(0, quarter)), medianMib(warm.slice(-quarter))]
  return {
    startMib: samples[0]?.[1] ?? 0,
    warmMib,
    endMib,
    mostMib: Math.max(0, ...samples.map(([, mib]) => mib)),
    mibPerMinute: round(slope(warm) * 60),
    isFlat: endMib <= warmMib * (1 + FLAT_WITHIN),
  }
}
