import { setTimeout as delay } from 'node:timers/promises'
import type { PlatformEvent } from '@switchhook/contracts'
import { backoffMs, type Logger, RARE_WAKE_MS, sharedWake, startPoll } from '@switchhook/runtime'
import type { Outbox, OutboxEntry, Relay } from '@switchhook/store'

interface RelayDeps {
  readonly outbox: Pick<Outbox, 'claim' | 'sent' | 'giveBack'>
  /** Resolves once the broker has confirmed the event. */
  readonly publish: (event: PlatformEvent) => Promise<void>
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/** Events of a pass, which are published in parallel. The next pass starts when all of them are confirmed; it does not wait for their marks. */
const BATCH = 128
/** Bounds the memory. Commits beyond it leave their events in the outbox. */
const MAX_IN_PROGRESS = 1_000
/** A poll, which costs a round trip, finds the events of a replica that died. */
const POLL_MS = 1_000
const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 2_000

/**
 * Moves committed events to the broker until it is stopped. Each commit of this process claims its events, and the relay
 * publishes them from memory. A pass claims what no running relay holds. Events that cannot be published go back to the
 * outbox; until a pass succeeds, commits claim nothing. Any number of replicas can run it at the same time. An event that was
 * published but not marked is published again; receivers recognise the duplicate by its id.
 */
export function startRelay({ outbox, publish, log }: RelayDeps): Relay & { readonly stop: () => Promise<void> } {
  const confirmed: OutboxEntry[] = []
  const unsent: OutboxEntry[] = []
  /** Events that are neither marked nor given back. */
  let inProgress = 0
  /**
   * Passes in a row that failed; 1 also if an event of a commit could not be published. Of all shards together: if one takes
   * nothing, RabbitMQ soon stops reading from the connection.
   */
  let failures = 0
  let hasFailed = false
  let isStopping = false
  let marking: Promise<void> | undefined
  /** Resolves the next time that nothing is in progress. */
  let idle = Promise.withResolvers<void>()

  function failed(error: unknown): void {
    if (failures === 0) log.warn('events cannot be relayed; they stay in the outbox', { error })
    failures = Math.max(failures, 1)
    hasFailed = true
  }

  async function send(entry: OutboxEntry): Promise<void> {
    try {
      await publish(entry.event)
      confirmed.push(entry)
    } catch (error) {
      failed(error)
      unsent.push(entry)
    }
    marking ??= mark()
  }

  /** Marks the confirmed events in one call for each wake-up, and gives the others back. After a crash they are published again. */
  async function mark(): Promise<void> {
    for (let tries = 0; confirmed.length + unsent.length > 0; ) {
      if (!isStopping) await sharedWake(RARE_WAKE_MS)
      const [sent, back] = [confirmed.splice(0), unsent.splice(0)]
      try {
        if (sent.length > 0) await outbox.sent(sent)
        if (back.length > 0) await outbox.giveBack(back)
        tries = 0
        // Traffic and further failures must not shorten the backoff.
        if (back.length > 0 && failures === 1) poll.wake()
      } catch (error) {
        // Both calls may be repeated. After a restart, or after 11 s, a relay publishes these events again.
        if (!isStopping) {
          if (tries === 0) log.warn('published events cannot be marked; retrying', { error })
          confirmed.unshift(...sent)
          unsent.unshift(...back)
          await delay(backoffMs(tries++, FIRST_RETRY_MS, LAST_RETRY_MS))
          continue
        }
      }
      inProgress -= sent.length + back.length
    }
    marking = undefined
    if (inProgress > 0) return
    idle.resolve()
    // A pass may still claim events while the relay stops.
    idle = Promise.withResolvers()
  }

  async function take(entries: readonly OutboxEntry[]): Promise<void> {
    inProgress += entries.length
    await Promise.all(entries.map(send))
  }

  const poll = startPoll(POLL_MS, async () => {
    const room = MAX_IN_PROGRESS - inProgress
    // The next mark makes room.
    if (room <= 0) return RARE_WAKE_MS
    const before = failures
    hasFailed = false
    let count = 0
    try {
      const claimed = await outbox.claim(Math.min(BATCH, room))
      count = claimed.length
      await take(claimed)
    } catch (error) {
      failed(error)
    }
    if (hasFailed) {
      failures = before + 1
      return backoffMs(before, FIRST_RETRY_MS, LAST_RETRY_MS)
    }
    if (before > 0) log.info('events are relayed again')
    failures = 0
    return count > 0 || before > 0 ? 0 : undefined
  })
  poll.wake()

  return {
    takesEvents: () => !isStopping && failures === 0 && inProgress < MAX_IN_PROGRESS,
    claimed: (entries) => void take(entries),
    unclaimed: () => {
      if (failures === 0) poll.wake()
    },
    /**
     * Resolves once the events in progress are marked as sent or given back; if Redis is away, they stay in the outbox. Later
     * commits leave their events there.
     */
    async stop() {
      isStopping = true
      await poll.stop()
      if (inProgress > 0) await idle.promise
    },
  }
}
