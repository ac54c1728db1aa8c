import { setTimeout as pause } from 'node:timers/promises'

/**
 * Repeats an assertion until it does not throw, and returns its result. After `timeoutMs` (30 s by default) it rejects
 * with the last error.
 */
export async function eventually<T>(
  assertion: () => T | Promise<T>,
  options: { readonly timeoutMs?: number; readonly intervalMs?: number } = {},
): Promise<T> {
  const deadline = performance.now() + (options.timeoutMs ?? 30_000)
  for (;;) {
    try {
      return await assertion()
    } catch (error) {
      if (performance.now() >= deadline) throw error
    }
    await pause(options.intervalMs ?? 20)
  }
}
