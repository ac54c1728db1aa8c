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
  /** The weight of the events that triggers a write at once; also the size of a write. An entry weighs 1, as does a KiB of data. */
  readonly batch: number
  /** The weight that is kept while writes fail. Beyond it the oldest events are dropped. */
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

/** An event with 10 000 deliveries has 10 001 entries. So the data of waiting events has at most 50 MB. */
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
    while (held > limits.most && events.length > 1) dropped += take().entries
    if (dropped > 0) drop(dropped)
  }

  /** Moves the oldest event to `batch`. */
  function take(batch: LoggedEvent[] = []): { readonly entries: number; readonly weight: number } {
    const event = events.shift()
    if (event === undefined) return { entries: 0, weight: 0 }
    batch.push(event)
    const weight = weightOf(event)
    held -= weight
    return { entries: entriesOf(event), weight }
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
    for (let taken = 0; events.length > 0 && taken < limits.batch; ) taken += take(batch).weight
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
        held += batch.reduce((sum, event) => sum + weightOf(event), 0)
        makeRoom()
      } else drop(entries, error)
    }
  }

  return {
    add(event) {
      events.push(event)
      held += weightOf(event)
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

/** The memory of an event: its entries, and one more for each KiB of data that the journal gets. */
const weightOf = (event: LoggedEvent): number => entriesOf(event) + Math.ceil((event.dataJson?.length ?? 0) / 1_024)

const entriesOf = ({ subscriptionIds }: LoggedEvent): number => 1 + subscriptionIds.length
