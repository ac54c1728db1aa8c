import { commonFields, integer } from '@switchhook/runtime'

export const fanoutFields = {
  ...commonFields,
  /** Events in hand at a time. */
  FANOUT_CONCURRENCY: integer({ min: 1, max: 10_000 }, 64),
  /** Into how many queues it divides the deliveries; the workers must consume as many. */
  DELIVERY_SHARDS: integer({ min: 1, max: 64 }, 1),
}
