import { setImmediate as nextIteration } from 'node:timers/promises'

/** ms since 1970 with fractions, so that two events of one process in the same millisecond keep their order. */
export const preciseNowMs = (): number => performance.timeOrigin + performance.now()

/** A connection is accepted in one iteration of the event loop, and its first bytes are read in the next. */
const ITERATIONS = 3

/**
 * Returns the time after everything that had already reached this process was read. Without it, a request that arrived
 * before an answer could be read after the answer.
 */
export async function caughtUpAtMs(): Promise<number> {
  for (let iteration = 0; iteration < ITERATIONS; iteration++) await nextIteration()
  return preciseNowMs()
}
