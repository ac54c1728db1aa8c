import {
  createDeliveryArchive,
  createDeliveryStore,
  type DeliveryArchive,
  type DeliveryStore,
  openRedis,
  type Redis,
} from '@switchhook/store'
import { silentLog, type TestRedis, testRedis } from '@switchhook/testkit'

export interface OpenedStore {
  readonly redis: Redis
  /** Keeps every record for an hour. */
  readonly store: DeliveryStore & DeliveryArchive
}

const HOUR_MS = 3_600_000
const RETENTION = { settledRetentionMs: HOUR_MS, waitingRetentionMs: HOUR_MS, parkedRetentionMs: HOUR_MS }

/**
 * Gives the tests of a file a Redis with a delivery store. Call it at the top of the file; `opened` is called before the first
 * test.
 */
export function useStore(opened: (world: OpenedStore) => void): void {
  let server: TestRedis
  let redis: Redis
  beforeAll(async () => {
    server = await testRedis()
    redis = await openRedis({ url: server.redisUrl, log: silentLog, name: 'test' })
    opened({ redis, store: { ...createDeliveryStore(redis, RETENTION), ...createDeliveryArchive(redis) } })
  })
  afterAll(async () => {
    await redis.close()
    await server.close()
  })
}
