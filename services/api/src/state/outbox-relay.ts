import type { PlatformEvent } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import type { Outbox, OutboxEntry } from '@switchhook/store'

export interface OutboxRelayDeps {
  readonly outbox: Pick<Outbox, 'claim' | 'sent'>
  /** Resolves once the broker has the event for good. */
  readonly publish: (event: PlatformEvent) => Promise<void>
  readonly log: Pick<Logger, 'info' | 'warn'>
}

export interface OutboxRelay {
  /** Something was committed in this process: look at once. */
  nudge(): void
  /** Finishes the batch in hand. */
  stop(): Promise<void>
}

/** As many as are published in parallel; the next batch waits for their confirms. */
const BATCH = 128

/**
 * What is committed here is announced by `nudge`. Looking unasked is for what a replica left behind that died between
 * its commit and its relay, where a second more does not count and every look costs Redis something.
 */
const LOOK_AFTER_MS = 1_000

const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 2_000

/**
 * One pass: claims, publishes, marks what the broker has confirmed. Resolves to how many were sent. What was published
 * and not marked is published again: receivers of events know duplicates by their ids.
 * @throws what the first failed publish threw, after those that succeeded are marked
 */
export async function relayOnce({ outbox, publish }: OutboxRelayDeps, max: number): Promise<number> {
  const batch = await outbox.claim(max)
  const results = await Promise.allSettled(batch.map(({ event }) => publish(event)))
  const sent: OutboxEntry[] = batch.filter((_entry, at) => results[at]?.status === 'fulfilled')
  if (sent.length > 0) await outbox.sent(sent)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return sent.length
}

/** Moves committed events to the broker for as long as the process lives. Any number of replicas may do so at once. */
export function startOutboxRelay(deps: OutboxRelayDeps): OutboxRelay {
  const stopping = new AbortController()
  let isNudged = false
  let isBackingOff = false
  let wake: (() => void) | undefined

  /** A nudge ends it early; one that came while nobody waited is not forgotten. */
  async function pause(ms: number): Promise<void> {
    if (isNudged || stopping.signal.aborted) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async function run(): Promise<void> {
    let retryMs = 0
    while (!stopping.signal.aborted) {
      try {
        isNudged = false
        const sent = await relayOnce(deps, BATCH)
        if (retryMs > 0) deps.log.info('events are relayed again')
        retryMs = 0
        if (sent === 0) await pause(LOOK_AFTER_MS)
      } catch (error) {
        if (retryMs === 0) deps.log.warn('events cannot be relayed; they are kept', { error })
        retryMs = Math.min(Math.max(retryMs * 2, FIRST_RETRY_MS), LAST_RETRY_MS)
        isNudged = false
        isBackingOff = true
        await pause(retryMs)
        isBackingOff = false
      }
    }
  }

  const running = run()
  return {
    nudge() {
      isNudged = true
      // In an outage the traffic must not set the pace of the retries.
      if (!isBackingOff) wake?.()
    },
    async stop() {
      stopping.abort()
      wake?.()
      await running
    },
  }
}
