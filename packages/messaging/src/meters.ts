import type { Metrics } from '@switchhook/runtime'

/** The part of `Metrics` that this package needs. */
export type Meters = Pick<Metrics, 'counter' | 'histogram' | 'gauge'>

/** Why a publish counts as not stored. `copy`: another system's queue on the public exchange did not store a copy. */
export type PublishFailure = 'not-connected' | 'alarm' | 'timeout' | 'refused' | 'unroutable' | 'copy'

/** Counts what happens on the broker. */
export interface BrokerMeter {
  confirmed(ms: number): void
  failed(reason: PublishFailure): void
  paused(): void
  quarantined(): void
}

export const NO_METER: BrokerMeter = {
  confirmed: () => {},
  failed: () => {},
  paused: () => {},
  quarantined: () => {},
}

/** In seconds. A majority of nodes writes a message to disk first: a few ms, and some hundred under load. */
const CONFIRM_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function createBrokerMeter(
  meters: Meters,
  current: { readonly consumersPaused: () => number; readonly messagesInFlight: () => number },
): BrokerMeter {
  const confirms = meters
    .histogram('switchhook_publish_confirm_seconds', 'From a publish to its confirm by the broker.', CONFIRM_BUCKETS)
    .of({})
  const failures = meters.counter('switchhook_publish_failures_total', 'Publishes that count as not stored, by reason.')
  const failed: Readonly<Record<PublishFailure, { add(): void }>> = {
    'not-connected': failures.of({ reason: 'not-connected' }),
    alarm: failures.of({ reason: 'alarm' }),
    timeout: failures.of({ reason: 'timeout' }),
    refused: failures.of({ reason: 'refused' }),
    unroutable: failures.of({ reason: 'unroutable' }),
    copy: failures.of({ reason: 'copy' }),
  }
  const pauses = meters
    .counter('switchhook_consumer_pauses_total', 'Times that a consumer paused because a dependency was down.')
    .of({})
  const quarantined = meters
    .counter('switchhook_quarantined_total', 'Messages that could not be parsed and were moved to quarantine.')
    .of({})
  meters.gauge('switchhook_consumers_paused', 'Consumers that are paused.', current.consumersPaused)
  meters.gauge('switchhook_messages_in_hand', 'Messages received and not yet acknowledged.', current.messagesInFlight)
  return {
    confirmed: (ms) => confirms.observe(ms / 1_000),
    failed: (reason) => failed[reason].add(),
    paused: () => pauses.add(),
    quarantined: () => quarantined.add(),
  }
}
