import { MOST_SHARDS } from '@switchhook/messaging'
import {
  type Config,
  commonFields,
  duration,
  durations,
  integer,
  networks,
  optional,
  type Rule,
} from '@switchhook/runtime'
import { secretKeys, secretKeysInProduction } from '@switchhook/signing'
import { BROKER_CONSUMER_TIMEOUT_MS, longestDeliveryTimeoutMs, longestUnackedMs } from './longest-unacked.ts'

export const workerFields = {
  ...commonFields,
  DELIVERY_TIMEOUT: duration('10s', { minMs: 1 }),
  DELIVERY_RETRY_WAITS: durations('10s,1m,5m,30m,2h,4h,6h'),
  BREAKER_FAILURES: integer({ min: 1, max: 1_000 }, 5),
  BREAKER_COOLDOWN: duration('30s', { minMs: 1 }),
  WEBHOOK_ALLOWED_NETWORKS: networks(''),
  DELIVERY_SHARDS: integer({ min: 1, max: MOST_SHARDS }, 1),
  DELIVERY_CONCURRENCY: integer({ min: 1, max: 10_000 }, 200),
  SUBSCRIPTION_CONCURRENCY: integer({ min: 1, max: 1_000 }, 10),
  DELIVERY_RETENTION: duration('1h', { minMs: 60_000 }),
  PARKED_RETENTION: duration('30d', { minMs: 60_000, maxMs: 365 * 86_400_000 }),
  SECRET_KEYS: optional(secretKeys()),
}

export type WorkerConfig = Config<typeof workerFields>

/** Else a delivery in flight when the process is told to end would be cut off and sent twice. */
const graceOutlastsDeadline: Rule<typeof workerFields> = (config) =>
  config.SHUTDOWN_GRACE > config.DELIVERY_TIMEOUT
    ? undefined
    : 'SHUTDOWN_GRACE must be longer than DELIVERY_TIMEOUT, so that deliveries in flight can finish'

/** RabbitMQ would close the channel and redeliver everything that the consumer holds, again and again. */
const deadlineFitsConsumerTimeout: Rule<typeof workerFields> = (config) => {
  const { DELIVERY_TIMEOUT, SUBSCRIPTION_CONCURRENCY: cap } = config
  const unackedMs = longestUnackedMs(DELIVERY_TIMEOUT, cap)
  if (unackedMs <= BROKER_CONSUMER_TIMEOUT_MS) return undefined
  return (
    `DELIVERY_TIMEOUT is too long: with SUBSCRIPTION_CONCURRENCY=${cap} a delivery could stay unacknowledged for ` +
    `${Math.ceil(unackedMs / 1_000)}s, and RabbitMQ closes the channel after ${BROKER_CONSUMER_TIMEOUT_MS / 1_000}s; ` +
    `use at most ${Math.floor(longestDeliveryTimeoutMs(cap) / 1_000)}s`
  )
}

export const workerRules: readonly Rule<typeof workerFields>[] = [
  graceOutlastsDeadline,
  deadlineFitsConsumerTimeout,
  secretKeysInProduction,
]
