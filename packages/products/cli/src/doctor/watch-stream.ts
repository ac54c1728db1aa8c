import { setTimeout as wait } from 'node:timers/promises'
import type { StreamTiming } from './judge.ts'

/** The API sends its place first, and after 15 s without another message. */
export const FIRST_WITHIN_MS = 2_000
export const SECOND_WITHIN_MS = 16_000

/** Opens the live stream and notes when bytes arrive. @throws what `open` throws */
export async function watchStream(
  open: (signal: AbortSignal) => Promise<Response>,
  /** Multiplies the limits, for slow networks. */
  patience: number,
): Promise<StreamTiming> {
  const connection = new AbortController()
  const beganMs = performance.now()
  const sinceMs = (): number => Math.round(performance.now() - beganMs)
  try {
    const firstLimitMs = FIRST_WITHIN_MS * patience
    const opened = await within(open(connection.signal), firstLimitMs)
    const reader = opened?.body?.getReader()
    if (reader === undefined) return { firstMs: undefined, secondMs: undefined, hasEnded: false }
    // A proxy that gives up cuts the connection, which rejects.
    const read = () => reader.read().catch(() => ({ done: true as const, value: undefined }))
    const first = await within(read(), firstLimitMs - sinceMs())
    if (first === undefined || first.done)
      return { firstMs: undefined, secondMs: undefined, hasEnded: first !== undefined }
    const firstMs = sinceMs()
    const second = await within(read(), SECOND_WITHIN_MS * patience)
    const hasEnded = second?.done === true
    return { firstMs, secondMs: second === undefined || hasEnded ? undefined : sinceMs(), hasEnded }
  } finally {
    connection.abort()
  }
}

/** Undefined if it takes longer: that is what the doctor looks for. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  // The losing side may fail later, when the connection is closed.
  work.catch(() => undefined)
  const late = wait(Math.max(ms, 0), undefined, { ref: false })
  // oxlint-disable-next-line no-restricted-properties -- a late answer is the finding, not a failure to wait for one
  return Promise.race([work, late])
}
