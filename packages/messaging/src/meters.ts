interface Series<T> {
  of(labels: Readonly<Record<string, string>>): T
}

/** Where this package counts; the services' metrics fit. */
export interface Meters {
  counter(name: string, help: string): Series<{ add(amount?: number): void }>
  histogram(name: string, help: string, buckets: readonly number[]): Series<{ observe(value: number): void }>
  gauge(name: string, help: string, read: () => number): void
}

/** Why a publish counts as not stored. `copy`: a queue of others on the public exchange did not take a copy. */
export type PublishFailure = 'not-connected' | 'alarm' | 'timeout' | 'refused' | 'unroutable' | 'copy'

/** Told of what happens, in passing. */
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

/** A confirm is written to disk by a majority first: mostly some ms, and some hundred under load. In seconds. */
const CONFIRM_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function createBrokerMeter(
  meters: Meters,
  now: { readonly consumersPaused: () => number; readonly messagesInHand: () => number },
): BrokerMeter {
  const confirms = meters
    .histogram('switchhook_publish_confirm_seconds', 'From a publish to the confirm of the broker.', CONFIRM_BUCKETS)
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
    .counter('switchhook_consumer_pauses_total', 'Times that a consumer paused because something it needs was away.')
    .of({})
  const quarantined = meters
    .counter('switchhook_quarantined_total', 'Messages that could not be understood and were put into quarantine.')
    .of({})
  meters.gauge('switchhook_consumers_paused', 'Consumers that pause at this moment.', now.consumersPaused)
  meters.gauge('switchhook_messages_in_hand', 'Messages taken and not yet acknowledged.', now.messagesInHand)
  return {
    confirmed: (ms) => confirms.observe(ms / 1_000),
    failed: (reason) => failed[reason].add(),
    paused: () => pauses.add(),
    quarantined: () => quarantined.add(),
  }
}
