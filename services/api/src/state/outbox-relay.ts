import type { PlatformEvent } from '@switchhook/contracts'
import { backoffMs, type Logger, startPoll } from '@switchhook/runtime'
import type { Outbox } from '@switchhook/store'

interface OutboxRelayDeps {
  readonly outbox: Pick<Outbox, 'claim' | 'sent'>
  /** Resolves once the broker has confirmed the event. */
  readonly publish: (event: PlatformEvent) => Promise<void>
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/** Events published in parallel. The next batch starts when all of them are confirmed. */
const BATCH = 128

/** `nudge` announces the commits of this process. A poll, which costs a round trip, finds those of a replica that died. */
const POLL_MS = 1_000

const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 2_000

/**
 * One pass: claims events, publishes them, and marks the confirmed ones as sent. Resolves to the number of sent events.
 * An event that was published but not marked is published again; receivers recognise the duplicate by its id.
 * @throws the error of the first failed publish, after the successful ones are marked
 */
export async function relayOnce({ outbox, publish }: OutboxRelayDeps, max: number): Promise<number> {
  const batch = await outbox.claim(max)
  const results = await Promise.allSettled(batch.map(({ event }) => publish(event)))
  const sent = batch.filter((_entry, at) => results[at]?.status === 'fulfilled')
  if (sent.length > 0) await outbox.sent(sent)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return sent.length
}

/** Moves committed events to the broker until it is stopped. Any number of replicas can run it at the same time. */
export function startOutboxRelay(deps: OutboxRelayDeps) {
  let failures = 0
  const poll = startPoll(POLL_MS, async () => {
    try {
      const sent = await relayOnce(deps, BATCH)
      if (failures > 0) deps.log.info('events are relayed again')
      const isMore = sent > 0 || failures > 0
      failures = 0
      return isMore ? 0 : undefined
    } catch (error) {
      if (failures === 0) deps.log.warn('events cannot be relayed; they stay in the outbox', { error })
      return backoffMs(failures++, FIRST_RETRY_MS, LAST_RETRY_MS)
    }
  })
  poll.wake()
  return {
    /** Wakes the relay: this process has committed an event. */
    nudge: (): void => {
      // During an outage, traffic must not shorten the backoff.
      if (failures === 0) poll.wake()
    },
    /** Resolves once the batch in progress is finished. */
    stop: poll.stop,
  }
}
