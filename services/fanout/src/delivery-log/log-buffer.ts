import { Unavailable } from '@switchhook/contracts'
import type { LoggedEvent } from '@switchhook/store'

export interface LogBufferDeps {
  /** May be repeated with the same events. */
  readonly write: (events: readonly LoggedEvent[]) => Promise<void>
  /** Called with the number of entries (events and their deliveries) that the log will not contain. */
  readonly dropped: (entries: number) => void
  readonly log: { warn(message: string, fields: Readonly<Record<string, unknown>>): void }
}

export interface LogBufferLimits {
  /** How long an event waits for others to share its write. */
  readonly flushMs: number
  /** Entries that trigger a write at once; also the size of a write. */
  readonly batch: number
  /** Entries that are kept while writes fail. Beyond it the oldest are dropped. */
  readonly most: number
  /** The wait after a failed write. */
  readonly retryMs: number
}

/** Buffers the delivery log's entries on their way to the store. No caller waits for a write; memory is bounded by the limits. */
export interface LogBuffer {
  add(event: LoggedEvent): void
  /** Tries once to write the remaining entries. */
  close(): Promise<void>
}

/** An event with 10 000 deliveries has 10 001 entries. */
const LIMITS: LogBufferLimits = { flushMs: 50, batch: 2_000, most: 50_000, retryMs: 1_000 }

/** At most one log line per this time. */
const LOG_INTERVAL_MS = 30_000

export function createLogBuffer(deps: LogBufferDeps, limits: LogBufferLimits = LIMITS): LogBuffer {
  const events: LoggedEvent[] = []
  let held = 0
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let hasFailed = false
  let isClosing = false
  let loggedAt = -Infinity

  function drop(entries: number, error?: unknown): void {
    deps.dropped(entries)
    if (performance.now() - loggedAt < LOG_INTERVAL_MS) return
    loggedAt = performance.now()
    deps.log.warn('delivery log entries were dropped; the deliveries themselves are not affected', { error })
  }

  function makeRoom(): void {
    let dropped = 0
    // A single event larger than the limit is kept.
    while (held > limits.most && events.length > 1) dropped += take()
    if (dropped > 0) drop(dropped)
  }

  /** Moves the oldest event to `batch`. Returns its number of entries. */
  function take(batch: LoggedEvent[] = []): number {
    const event = events.shift()
    if (event === undefined) return 0
    batch.push(event)
    held -= entriesOf(event)
    return entriesOf(event)
  }

  function schedule(): void {
    if (events.length === 0 || writing !== undefined || isClosing) return
    if (held >= limits.batch && !hasFailed) flush()
    else timer ??= setTimeout(flush, hasFailed ? limits.retryMs : limits.flushMs)
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    const batch: LoggedEvent[] = []
    for (let taken = 0; events.length > 0 && taken < limits.batch; ) taken += take(batch)
    writing = writeAndSchedule(batch)
  }

  async function writeAndSchedule(batch: readonly LoggedEvent[]): Promise<void> {
    await writeBatch(batch)
    writing = undefined
    schedule()
  }

  async function writeBatch(batch: readonly LoggedEvent[]): Promise<void> {
    try {
      await deps.write(batch)
      hasFailed = false
    } catch (error) {
      hasFailed = true
      const entries = batch.reduce((sum, event) => sum + entriesOf(event), 0)
      if (error instanceof Unavailable) {
        events.unshift(...batch)
        held += entries
        makeRoom()
      } else drop(entries, error)
    }
  }

  return {
    add(event) {
      events.push(event)
      held += entriesOf(event)
      makeRoom()
      schedule()
    },
    async close() {
      isClosing = true
      await writing
      clearTimeout(timer)
      timer = undefined
      const rest = events.splice(0)
      held = 0
      if (rest.length > 0) await deps.write(rest).catch((error: unknown) => drop(rest.length, error))
    },
  }
}

const entriesOf = ({ subscriptionIds }: LoggedEvent): number => 1 + subscriptionIds.length
