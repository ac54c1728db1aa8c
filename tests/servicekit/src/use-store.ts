import {
  createDeliveryArchive,
  createDeliveryStore,
  type DeliveryArchive,
  type DeliveryStore,
  openRedis,
  type Redis,
} from '@switchhook/store'
import { UNLIMITED, unscheduled, unverified, useRedis } from '@switchhook/testkit'

export interface OpenedStore {
  readonly redis: Redis
  /** Keeps every record for an hour. */
  readonly store: DeliveryStore & DeliveryArchive
}

const HOUR_MS = 3_600_000
export const RETENTION = { finishedRetentionMs: HOUR_MS, parkedRetentionMs: HOUR_MS, scheduleOf: unscheduled }

/** `useRedis` with a delivery store. */
export const useStore = (opened: (world: OpenedStore) => void): void =>
  useRedis(openRedis, ({ redis }) =>
    opened({
      redis,
      store: { ...createDeliveryStore(redis, RETENTION, UNLIMITED, unverified), ...createDeliveryArchive(redis) },
    }),
  )
