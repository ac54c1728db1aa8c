import { type Metrics, SECONDS } from '@switchhook/runtime'

/** Why a publish counts as not stored. `copy`: another system's queue on the public exchange did not store a copy. */
const PUBLISH_FAILURES = ['not-connected', 'alarm', 'timeout', 'refused', 'unroutable', 'copy'] as const
export type PublishFailure = (typeof PUBLISH_FAILURES)[number]

export type BrokerMeter = ReturnType<typeof createBrokerMeter>

/** @param current what the gauges read */
export function createBrokerMeter(
  meters: Pick<Metrics, 'counter' | 'histogram' | 'gauge'>,
  current: Readonly<Record<'consumersPaused' | 'messagesInFlight', () => number>>,
) {
  const confirms = meters
    .histogram('switchhook_publish_confirm_seconds', 'From a publish to its confirm by the broker.', SECONDS)
    .of({})
  const failures = meters.counter('switchhook_publish_failures_total', 'Publishes that count as not stored, by reason.')
  const failed = new Map(PUBLISH_FAILURES.map((reason) => [reason, failures.of({ reason })]))
  const pauses = meters
    .counter('switchhook_consumer_pauses_total', 'Times that a consumer paused because a dependency was down.')
    .of({})
  const quarantined = meters
    .counter('switchhook_quarantined_total', 'Messages that could not be parsed and were moved to quarantine.')
    .of({})
  meters.gauge('switchhook_consumers_paused', 'Consumers that are paused.', current.consumersPaused)
  meters.gauge('switchhook_messages_in_hand', 'Messages received and not yet acknowledged.', current.messagesInFlight)
  return {
    confirmed: (ms: number): void => confirms.observe(ms / 1_000),
    failed: (reason: PublishFailure): void => failed.get(reason)?.add(),
    paused: (): void => pauses.add(),
    quarantined: (): void => quarantined.add(),
  }
}
