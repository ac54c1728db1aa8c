/**
 * The bounds of a histogram's buckets, in ms, rising. They are fixed, so that counts of several workers, minutes and
 * subscriptions can be added. Bucket k holds the values from `bounds[k - 1]` on and below `bounds[k]`; the last bucket, one
 * more than there are bounds, has no end. Stored counts refer to the position of a bucket, so the bounds never change.
 */
export type Bounds = readonly number[]

/** For the time until an endpoint answers: at most the deadline of an attempt. */
export const ANSWER_TIMES: Bounds = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 2_000, 3_000, 5_000, 7_000, 10_000,
  30_000, 120_000,
]

/** For the time from an event to its first POST: milliseconds, and hours after an outage of the broker. */
export const DELAYS: Bounds = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 300, 500, 700, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000,
  1_800_000, 7_200_000,
]

/** The position of the bucket that holds the value. @param valueMs negative values, of clocks that differ, count as 0 */
export const bucketOf = (bounds: Bounds, valueMs: number): number =>
  bounds.findLastIndex((bound) => bound <= valueMs) + 1

/**
 * Estimates percentiles in ms, with one decimal. Within a bucket the values are taken to be spread evenly, so an estimate is
 * in the same bucket as the true value. In the last bucket it is the highest bound.
 * @param counts by position of the bucket; null if all are 0
 */
export function percentilesOf(bounds: Bounds, counts: readonly number[]) {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const at = (share: number): number => quantileOf(bounds, counts, share * total)
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

/** @param rank more than 0 and at most the number of values */
function quantileOf(bounds: Bounds, counts: readonly number[], rank: number): number {
  let below = 0
  for (const [bucket, count] of counts.entries()) {
    if (below + count >= rank && count > 0) {
      const from = bounds[bucket - 1] ?? 0
      const to = bounds[bucket] ?? from
      return Math.round((from + ((to - from) * (rank - below)) / count) * 10) / 10
    }
    below += count
  }
  return bounds.at(-1) ?? 0
}
