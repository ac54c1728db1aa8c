import type { Broker } from '@switchhook/messaging'
import type { Logger, Metrics, Tracing } from '@switchhook/runtime'
import type { Vault } from '@switchhook/signing'
import type { Installation, JournalReader, Redis, SubscriptionStore } from '@switchhook/store'
import type { ApiConfig } from './config.ts'

/** The parts that `api.ts` opens first and everything else can use. */
export interface Base {
  readonly config: ApiConfig
  readonly log: Logger
  readonly metrics: Metrics
  readonly tracing: Tracing
  readonly redis: Redis
  readonly broker: Broker
  readonly installation: Installation
  readonly vault: Vault
  readonly journal: JournalReader
  /** Confirms the installation before it reports that a subscription does not exist. */
  readonly subscriptions: SubscriptionStore
  /** Publishes within a span, in the trace of the current request; the delivery carries the trace on. */
  readonly publishDelivery: Broker['publishDelivery']
  /** The `traceparent` of the current request; undefined outside a request. */
  readonly traceOfRequest: () => string | undefined
  /** Milliseconds since 1970, at most a few seconds ahead of Redis's clock (`ClockWatch`). */
  readonly now: () => number
}
