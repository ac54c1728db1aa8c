import { Unavailable } from '@switchhook/contracts'
import type { LoggedEvent } from '@switchhook/store'

export interface LogBufferDeps {
  /** May be repeated with the same events. */
  readonly write: (events: readonly LoggedEvent[]) => Promise<void>
  /** Told how many entries, events and their deliveries, will not be found in the log. */
  readonly dropped: (entries: number) => void
  readonly log: { warn(message: string, fields: Readonly<Record<string, unknown>>): void }
}

export interface LogBufferLimits {
  /** How long an event waits for others to be written with it. */
  readonly flushMs: number
  /** Entries that are not waited for any longer, and that are written in one go. */
  readonly batch: number
  /** Entries that are kept while they cannot be written; the oldest make room. */
  readonly most: number
  /** After a write that failed. */
  readonly retryMs: number
}

/** What is to be remembered of events, on its way to the store. Nobody waits for it, and it never takes more memory than its limits say. */
export interface LogBuffer {
  add(event: LoggedEvent): void
  /** Writes what is left, if that can be done at once. */
  close(): Promise<void>
}

/** An event that became 10 000 deliveries is 10 001 entries. */
const LIMITS: LogBufferLimits = { flushMs: 50, batch: 2_000, most: 50_000, retryMs: 1_000 }

/** One line says it; a long time of it takes some more. */
const REMIND_MS = 30_000

export function createLogBuffer(deps: LogBufferDeps, limits: LogBufferLimits = LIMITS): LogBuffer {
  const events: LoggedEvent[] = []
  let held = 0
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let hasFailed = false
  let isClosing = false
  let toldAt = -Infinity

  function drop(entries: number, error?: unknown): void {
    deps.dropped(entries)
    if (performance.now() - toldAt < REMIND_MS) return
    toldAt = performance.now()
    deps.log.warn('deliveries are missing from the delivery log; they are delivered all the same', { error })
  }

  function makeRoom(): void {
    let dropped = 0
    // A single event may be larger than the limit, and is let through.
    while (held > limits.most && events.length > 1) dropped += take()
    if (dropped > 0) drop(dropped)
  }

  /** Removes the oldest, and answers how many entries it was. */
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
    writing = writeAndGoOn(batch)
  }

  async function writeAndGoOn(batch: readonly LoggedEvent[]): Promise<void> {
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
