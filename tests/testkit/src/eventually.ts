import { setTimeout as pause } from 'node:timers/promises'

const INTERVAL_MS = 20
/**
 * A failed assertion is repeated after this many times as long as it took. Those that ask a server, run a command or
 * compare long lists would otherwise take the processor from the processes that they wait for.
 */
const REST = 4
/** The pauses grow with the wait: after ten seconds, half a second more hardly matters. */
const PART_OF_WAIT = 0.05
const MAX_REST_MS = 250

/**
 * Repeats an assertion until it does not throw, and returns its result. After `timeoutMs` (30 s by default) it rejects
 * with the last error.
 * @param options `intervalMs`: the pause between two attempts; by default 20 ms, and longer if the assertion is slow or the wait is long
 */
export async function eventually<T>(
  assertion: () => T | Promise<T>,
  options: { readonly timeoutMs?: number; readonly intervalMs?: number } = {},
): Promise<T> {
  const firstMs = performance.now()
  const deadline = firstMs + (options.timeoutMs ?? 30_000)
  for (;;) {
    const beganMs = performance.now()
    try {
      return await assertion()
    } catch (error) {
      if (performance.now() >= deadline) throw error
    }
    const nowMs = performance.now()
    const restMs = Math.min(Math.max(REST * (nowMs - beganMs), PART_OF_WAIT * (nowMs - firstMs)), MAX_REST_MS)
    await pause(options.intervalMs ?? Math.max(INTERVAL_MS, restMs))
  }
}
