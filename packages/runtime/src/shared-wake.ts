/** How often a process wakes for what may wait. */
const WAKE_MS = 50
/** For what may wait twice as long, such as acknowledgements, each of which costs the broker a write to its disk. */
export const RARE_WAKE_MS = 2 * WAKE_MS
/** Timers count whole milliseconds from another start, so one of `n` can be early by almost 1. */
const ROUNDING_MS = 1

/** What waits, by the time of its wake-up (`performance.now()`). */
const waiting = new Map<number, (() => void)[]>()

/**
 * Runs `act` at the process's next shared wake-up, within `everyMs`: for acknowledgements, marks, log lines and other work that
 * nothing waits for. All that is due at one time shares a timer, and what it sends over one connection shares a write. A wake-up
 * costs a process more than the work in it (docs/performance.md).
 */
export function atSharedWake(act: () => void, everyMs: number = WAKE_MS): void {
  const dueAtMs = (Math.floor(performance.now() / everyMs) + 1) * everyMs
  const acts = waiting.get(dueAtMs)
  if (acts !== undefined) return void acts.push(act)
  waiting.set(dueAtMs, [act])
  wakeAt(dueAtMs)
}

/** Resolves at the next shared wake-up. */
export const sharedWake = (everyMs?: number): Promise<void> => new Promise((resolve) => atSharedWake(resolve, everyMs))

function wakeAt(dueAtMs: number): void {
  const leftMs = dueAtMs - performance.now()
  if (leftMs > 0) {
    // A timer that is set late in an iteration of the event loop counts from its begin, so it can be early.
    // oxlint-disable-next-line no-restricted-globals -- gathers work: no answer is awaited
    setTimeout(wakeAt, Math.ceil(leftMs) + ROUNDING_MS, dueAtMs)
    return
  }
  const acts = waiting.get(dueAtMs) ?? []
  waiting.delete(dueAtMs)
  for (const act of acts) act()
}
