/** How often a process wakes for what may wait. */
const WAKE_MS = 50
/** For what may wait twice as long, such as acknowledgements, each of which costs the broker a write to its disk. */
export const RARE_WAKE_MS = 2 * WAKE_MS
/** Timers count whole milliseconds from another start, so one of `n` can be early by almost 1. */
const ROUNDING_MS = 1

interface Waiting {
  /** By `performance.now()`. */
  readonly dueAtMs: number
  readonly act: () => void
}

let waiting: Waiting[] = []
/** The last one that was set. Earlier ones that are late run once, and set no others while this one waits. */
let timer: NodeJS.Timeout | undefined
let wakesAtMs = Infinity

/**
 * Runs `act` at the process's next shared wake-up, within `everyMs`: for acknowledgements, marks, log lines and other work that
 * nothing waits for. All of it shares one timer, and what it sends over one connection shares a write. A wake-up costs a process
 * more than the work in it (docs/performance.md).
 */
export function atSharedWake(act: () => void, everyMs: number = WAKE_MS): void {
  const now = performance.now()
  const dueAtMs = now + everyMs - (now % everyMs)
  waiting.push({ act, dueAtMs })
  wakeAt(dueAtMs, now)
}

/** Resolves at the next shared wake-up. */
export const sharedWake = (everyMs?: number): Promise<void> => new Promise((resolve) => atSharedWake(resolve, everyMs))

function wakeAt(atMs: number, now: number): void {
  // A timer in the past is late, or it is one of another clock (tests), as is one far ahead.
  const isSet = wakesAtMs > now && wakesAtMs - now <= RARE_WAKE_MS && wakesAtMs <= atMs
  if (isSet) return
  wakesAtMs = atMs
  // oxlint-disable-next-line no-restricted-globals -- gathers work: no answer is awaited
  const own = setTimeout(() => wake(own), Math.ceil(atMs - now) + ROUNDING_MS)
  timer = own
}

function wake(own: NodeJS.Timeout): void {
  if (own === timer) wakesAtMs = Infinity
  const now = performance.now()
  const isDue = ({ dueAtMs }: Waiting): boolean => dueAtMs <= now
  const due = waiting.filter(isDue)
  waiting = waiting.filter((one) => !isDue(one))
  const [next] = waiting
  if (next !== undefined) wakeAt(Math.min(...waiting.map(({ dueAtMs }) => dueAtMs)), now)
  for (const { act } of due) act()
}
