import { setTimeout as pause } from 'node:timers/promises'

/**
 * Polls a condition until it holds. Returns whether it did within `timeoutMs`; a poll that never settles ends the wait, too.
 */
export async function waitUntil(
  holds: () => boolean | Promise<boolean>,
  timeoutMs: number,
  intervalMs = 50,
): Promise<boolean> {
  const end = new AbortController()
  const poll = async (): Promise<boolean> => {
    while (!(await holds())) {
      if (end.signal.aborted) return false
      await pause(intervalMs)
    }
    return true
  }
  try {
    return await Promise.race([poll(), pause(timeoutMs, false, { signal: end.signal })])
  } finally {
    end.abort()
  }
}
