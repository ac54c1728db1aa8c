import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '@switchhook/contracts'
import { type Logger, sharedWake } from '@switchhook/runtime'
import { createDeliveryLog, createJournal, type LoggedEvent, type Redis } from '@switchhook/store'
import type { FanoutConfig } from '../config.ts'

/** Writes events to the delivery log and to the journal, as far as they are on. */
export function createHistory(deps: {
  readonly config: FanoutConfig
  readonly redis: Redis
  /** Called with the number of entries that are missing. */
  readonly dropped: (entries: number) => void
  readonly log: Logger
}) {
  const { config, redis, dropped, log } = deps
  const deliveryLog = createDeliveryLog(redis, {
    size: config.DELIVERY_LOG_SIZE,
    retentionMs: config.DELIVERY_LOG_RETENTION,
  })
  const journal = createJournal(redis, {
    size: config.EVENT_JOURNAL_SIZE,
    retentionMs: config.EVENT_JOURNAL_RETENTION,
    deliveryRetentionMs: config.DELIVERY_RETENTION,
  })
  const isLogOn = config.DELIVERY_LOG_SIZE > 0
  const isOn = isLogOn || config.EVENT_JOURNAL_SIZE > 0
  const buffer = createLogBuffer({
    writes: [
      ...(isLogOn ? [(events: readonly LoggedEvent[]) => deliveryLog.write(events)] : []),
      // The journal last: while it is behind, the live stream shows no event that cannot be explained yet.
      (events) => journal.append(events),
    ],
    dropped,
    log,
  })
  return { add: (event: LoggedEvent): void => (isOn ? buffer.add(event) : undefined), close: () => buffer.close() }
}

export interface LogBufferDeps {
  /**
   * Called one after the other with the same events, and repeated while the store is away. If one refuses the events, the
   * next ones still get them.
   */
  readonly writes: readonly ((events: readonly LoggedEvent[]) => Promise<void>)[]
  /** Called with the number of entries (events and their deliveries) that the log will not contain. */
  readonly dropped: (entries: number) => void
  readonly log: Pick<Logger, 'warn'>
}

const LIMITS = {
  /** The weight of a write. An entry weighs 1, as does a KiB of data. */
  batch: 2_000,
  /**
   * The weight that is kept while writes fail. Beyond it the oldest events are dropped. An event with 10 000 deliveries has
   * 10 001 entries. So the data of waiting events has at most 50 MB.
   */
  most: 50_000,
  retryMs: 1_000,
}

/** At most one log line per this time. */
const LOG_INTERVAL_MS = 30_000

/** Buffers the delivery log's entries on their way to the store. No caller waits for a write; memory is bounded by the limits. */
export function createLogBuffer(deps: LogBufferDeps, limits = LIMITS) {
  const events: LoggedEvent[] = []
  const closing = new AbortController()
  let held = 0
  let writing: Promise<void> | undefined
  let loggedAt = -Infinity

  function drop(entries: number, error?: unknown): void {
    deps.dropped(entries)
    if (performance.now() - loggedAt < LOG_INTERVAL_MS) return
    loggedAt = performance.now()
    deps.log.warn('delivery log entries were dropped; the deliveries themselves are not affected', { error })
  }

  function makeRoom(): void {
    // A single event larger than the limit is kept.
    while (held > limits.most && events.length > 1) drop(sumOf(take(1), entriesOf))
  }

  /** Takes the oldest events, up to this weight; the last of them may exceed it. */
  function take(weight: number): readonly LoggedEvent[] {
    const taken: LoggedEvent[] = []
    for (let sum = 0; sum < weight; ) {
      const event = events.shift()
      if (event === undefined) break
      taken.push(event)
      sum += weightOf(event)
    }
    held -= sumOf(taken, weightOf)
    return taken
  }

  /**
   * Writes what has been gathered at the shared wake-up. Meanwhile further events are added; those of one write share it. A
   * full batch does not wait: so the store, not the wake-ups, limits the rate.
   */
  async function writeEvents(): Promise<void> {
    while (events.length > 0) {
      if (held < limits.batch) await sharedWake()
      const batch = take(limits.batch)
      try {
        const refusals: unknown[] = []
        for (const write of deps.writes) {
          await write(batch).catch((error: unknown) => {
            if (error instanceof Unavailable) throw error
            refusals.push(error)
          })
        }
        if (refusals.length > 0) throw refusals[0]
      } catch (error) {
        if (!(error instanceof Unavailable) || closing.signal.aborted) drop(sumOf(batch, entriesOf), error)
        else {
          events.unshift(...batch)
          held += sumOf(batch, weightOf)
          makeRoom()
          await sleep(limits.retryMs, undefined, { signal: closing.signal }).catch(() => {})
        }
      }
    }
    writing = undefined
  }

  return {
    add(event: LoggedEvent): void {
      events.push(event)
      held += weightOf(event)
      makeRoom()
      writing ??= writeEvents()
    },
    /** Tries once to write the remaining entries. */
    async close(): Promise<void> {
      closing.abort()
      await writing
    },
  }
}

/** The memory of an event: its entries, and one more for each KiB of data that the journal gets. */
const weightOf = (event: LoggedEvent): number => entriesOf(event) + Math.ceil((event.dataJson?.length ?? 0) / 1_024)

const entriesOf = ({ subscriptionIds }: LoggedEvent): number => 1 + subscriptionIds.length

const sumOf = (events: readonly LoggedEvent[], of: (event: LoggedEvent) => number): number =>
  events.reduce((sum, event) => sum + of(event), 0)
