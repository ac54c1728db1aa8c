/** How often a process wakes for what may wait. */
const WAKE_MS = 50

let waiting: (() => void)[] = []
/** By `performance.now()`. */
let dueAtMs = 0

/**
 * Runs `act` at the process's next shared wake-up, within 50 ms: for acknowledgements, marks, log lines and other work that
 * nothing waits for. All of it shares one timer, and what it sends over one connection shares a write. A wake-up costs a process
 * more than the work in it (docs/performance.md).
 */
export function atSharedWake(act: () => void): void {
  waiting.push(act)
  const now = performance.now()
  const isSet = dueAtMs > now && dueAtMs - now <= WAKE_MS + 1
  if (isSet) return
  const waitMs = Math.ceil(WAKE_MS - (now % WAKE_MS))
  dueAtMs = now + waitMs
  // oxlint-disable-next-line no-restricted-globals -- gathers work: no answer is awaited
  setTimeout(wake, waitMs)
}

/** Resolves at the next shared wake-up. */
export const sharedWake = (): Promise<void> => new Promise(atSharedWake)

function wake(): void {
  dueAtMs = 0
  const acts = waiting
  waiting = []
  for (const act of acts) act()
}
