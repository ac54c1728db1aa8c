import { setImmediate as nextTurn } from 'node:timers/promises'

/** ms since 1970 with fractions: two events of one process in the same millisecond keep their order. */
export const preciseNowMs = (): number => performance.timeOrigin + performance.now()

/** A connection is accepted in one turn of the event loop, and its first bytes are read in the next. */
const TURNS = 3

/**
 * The time by which everything has been read that had reached this process before. Without it, a request that arrived before an answer
 * could be read after the answer.
 */
export async function caughtUpAtMs(): Promise<number> {
  for (let turn = 0; turn < TURNS; turn++) await nextTurn()
  return preciseNowMs()
}
