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

/** Without progress: the assertion fails with the same message. */
const IDLE_MS = 30_000
/** Below the time limit of a test, which says nothing about what it waited for. */
const MAX_WAIT_MS = 100_000

/**
 * Repeats an assertion until it does not throw, and returns its result. It rejects with the last error once the assertion has
 * failed with the same message for `idleMs` (30 s by default), because a busy machine may be slow, but goes on.
 * @param options `timeoutMs`: how long it waits in all, whatever the messages; `intervalMs`: the pause between two attempts; by
 *   default 20 ms, and longer if the assertion is slow or the wait is long
 */
export async function eventually<T>(
  assertion: () => T | Promise<T>,
  options: { readonly timeoutMs?: number; readonly idleMs?: number; readonly intervalMs?: number } = {},
): Promise<T> {
  const { timeoutMs, idleMs = timeoutMs ?? IDLE_MS, intervalMs } = options
  const firstMs = performance.now()
  const lastMs = firstMs + (timeoutMs ?? MAX_WAIT_MS)
  let message: string | undefined
  let changedMs = firstMs
  for (;;) {
    const beganMs = performance.now()
    try {
      return await assertion()
    } catch (error) {
      const current = String(error)
      if (current !== message) changedMs = beganMs
      message = current
      if (performance.now() >= Math.min(lastMs, changedMs + idleMs)) throw error
    }
    const nowMs = performance.now()
    const restMs = Math.min(Math.max(REST * (nowMs - beganMs), PART_OF_WAIT * (nowMs - firstMs)), MAX_REST_MS)
    await pause(intervalMs ?? Math.max(INTERVAL_MS, restMs))
  }
}
