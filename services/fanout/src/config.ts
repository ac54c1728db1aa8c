import { MOST_SHARDS } from '@switchhook/messaging'
import { commonFields, duration, integer } from '@switchhook/runtime'

export const fanoutFields = {
  ...commonFields,
  /** Events in hand at a time. */
  FANOUT_CONCURRENCY: integer({ min: 1, max: 10_000 }, 64),
  /** Into how many queues it divides the deliveries; the workers must consume as many. */
  DELIVERY_SHARDS: integer({ min: 1, max: MOST_SHARDS }, 1),
  /** Deliveries that are listed per subscription; 0: none are, and events are not remembered. */
  DELIVERY_LOG_SIZE: integer({ min: 0, max: 1_000_000 }, 1_000),
  /** Events that are listed per tenant, for DELIVERY_RETENTION; 0: none are. */
  EVENT_LIST_SIZE: integer({ min: 0, max: 1_000_000 }, 20_000),
  DELIVERY_LOG_RETENTION: duration('8d', { minMs: 60_000, maxMs: 365 * 86_400_000 }),
  /** As the workers have it. */
  DELIVERY_RETENTION: duration('1h', { minMs: 60_000 }),
}
