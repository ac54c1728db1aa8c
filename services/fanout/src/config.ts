import { MAX_SHARDS } from '@switchhook/messaging'
import {
  type Config,
  commonFields,
  deliveryShardsField,
  described,
  duration,
  eventShardsField,
  integer,
  sharedFields,
} from '@switchhook/runtime'

export const fanoutFields = {
  ...commonFields,
  FANOUT_CONCURRENCY: described(
    'Events that one process handles at the same time.',
    integer({ min: 1, max: 10_000 }, 64),
  ),
  EVENT_SHARDS: eventShardsField(MAX_SHARDS),
  DELIVERY_SHARDS: deliveryShardsField(MAX_SHARDS),
  DELIVERY_LOG_SIZE: described(
    'Deliveries listed per subscription; `0` turns these lists off ([delivery log](delivery-log.md)).',
    integer({ min: 0, max: 1_000_000 }, 1_000),
  ),
  DELIVERY_LOG_RETENTION: described(
    'How long a delivery is listed. Must exceed the time to its last attempt.',
    duration('8d', { minMs: 60_000, maxMs: 365 * 86_400_000 }),
  ),
  DELIVERY_RETENTION: sharedFields.DELIVERY_RETENTION,
  EVENT_JOURNAL_SIZE: sharedFields.EVENT_JOURNAL_SIZE,
  EVENT_JOURNAL_RETENTION: sharedFields.EVENT_JOURNAL_RETENTION,
}

export type FanoutConfig = Config<typeof fanoutFields>
