import { setTimeout as delay } from 'node:timers/promises'
import type { PlatformEvent } from '@switchhook/contracts'
import { backoffMs, type Logger } from '@switchhook/runtime'
import type { CommitRelay, Outbox, OutboxEntry } from '@switchhook/store'

/** Bounds the memory. Commits beyond it leave their events to the outbox relay. */
const MAX_IN_PROGRESS = 1_000
/** Confirmed events are gathered for this long and marked in one call. After a crash they are published again. */
const GATHER_MS = 20
/** After a failed publish, commits leave their events to the outbox relay for this long. It retries with its own backoff. */
const PAUSE_MS = 1_000
const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 2_000

/**
 * Publishes the events that this process commits, from memory. Each commit claims its events, so no other relay sends them
 * for 11 s, which is longer than a publish waits for its confirm. Events that cannot be published go to the outbox relay,
 * which retries them.
 */
export function startCommitRelay(deps: {
  readonly name: string
  readonly outbox: Pick<Outbox, 'sent' | 'giveBack'>
  /** Resolves once the broker has confirmed the event. */
  readonly publish: (event: PlatformEvent) => Promise<void>
  readonly nudge: () => void
  readonly log: Pick<Logger, 'warn'>
}): CommitRelay & { readonly stop: () => Promise<void> } {
  const { name, outbox, publish, nudge, log } = deps
  const confirmed: OutboxEntry[] = []
  const failed: OutboxEntry[] = []
  let inProgress = 0
  let pausedUntilMs = 0
  let isStopping = false
  let isSettling = false

  async function send(entry: OutboxEntry): Promise<void> {
    try {
      await publish(entry.event)
      confirmed.push(entry)
    } catch {
      // The outbox relay logs the outage.
      pausedUntilMs = performance.now() + PAUSE_MS
      failed.push(entry)
    }
    if (!isSettling) await settle()
  }

  async function settle(): Promise<void> {
    isSettling = true
    for (let failures = 0; confirmed.length + failed.length > 0; ) {
      if (!isStopping) await delay(GATHER_MS)
      const [sent, back] = [confirmed.splice(0), failed.splice(0)]
      try {
        if (sent.length > 0) await outbox.sent(sent)
        if (back.length > 0) await outbox.giveBack(back)
        inProgress -= sent.length + back.length
        failures = 0
        if (back.length > 0) nudge()
      } catch (error) {
        // Both calls may be repeated. After a restart, or after 11 s, the outbox relay publishes these events again.
        if (isStopping) break
        if (failures === 0) log.warn('published events cannot be marked; retrying', { error })
        confirmed.unshift(...sent)
        failed.unshift(...back)
        await delay(backoffMs(failures++, FIRST_RETRY_MS, LAST_RETRY_MS))
      }
    }
    isSettling = false
  }

  const sending = new Set<Promise<void>>()
  return {
    name,
    takesEvents: () => !isStopping && inProgress < MAX_IN_PROGRESS && performance.now() >= pausedUntilMs,
    claimed(entries) {
      inProgress += entries.length
      for (const entry of entries) {
        const sent = send(entry)
        sending.add(sent)
        void sent.finally(() => sending.delete(sent))
      }
    },
    unclaimed: nudge,
    /** Resolves once the events in progress are marked as sent or given back. Later commits leave their events. */
    async stop() {
      isStopping = true
      while (sending.size > 0) await Promise.all(sending)
    },
  }
}
