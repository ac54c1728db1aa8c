import { setTimeout as pause } from 'node:timers/promises'

/** Polls a condition until it holds. Returns whether it did within `timeoutMs`. */
export async function waitUntil(
  holds: () => boolean | Promise<boolean>,
  timeoutMs: number,
  intervalMs = 50,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    if (await holds()) return true
    if (performance.now() >= deadline) return false
    await pause(intervalMs)
  }
}
