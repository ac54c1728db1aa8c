import type { Lapse } from './observation.ts'

/** An event occurs, or a request is answered, shortly before or after its commit. */
const COMMIT_MS = 1_000

/** Whether what was committed at this time may have been lost with Redis. */
export const isInLapse = (lapses: readonly Lapse[], atMs: number): boolean =>
  lapses.some(({ fromMs, toMs }) => fromMs - COMMIT_MS <= atMs && atMs <= toMs + COMMIT_MS)

/**
 * Only a rollback loses what a worker had already acknowledged to the broker. With an empty Redis the workers have to wait: whatever
 * was in the broker is still there afterwards.
 */
export const isRolledBack = (lapses: readonly Lapse[], atMs: number): boolean =>
  isInLapse(
    lapses.filter(({ kind }) => kind === 'rolled back'),
    atMs,
  )
