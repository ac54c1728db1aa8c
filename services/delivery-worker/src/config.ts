import { MOST_SHARDS } from '@switchhook/messaging'
import {
  type Config,
  commonFields,
  deliveryShardsField,
  described,
  duration,
  durations,
  integer,
  type Rule,
  sharedFields,
} from '@switchhook/runtime'
import { secretKeysField, secretKeysInProduction } from '@switchhook/signing'
import { BROKER_CONSUMER_TIMEOUT_MS, longestDeliveryTimeoutMs, longestUnackedMs } from './longest-unacked.ts'

export const workerFields = {
  ...commonFields,
  DELIVERY_TIMEOUT: described(
    'Deadline of one attempt: name look-up, connection, TLS, sending and the status line of the answer.',
    duration('10s', { minMs: 1 }),
  ),
  DELIVERY_RETRY_WAITS: described(
    'Waits between attempts, separated by commas. Their number is the number of retries; `none`: no retries.',
    durations('10s,1m,5m,30m,2h,4h,6h'),
  ),
  BREAKER_FAILURES: described(
    'Transient failures in a row after which an endpoint is not contacted for `BREAKER_COOLDOWN`.',
    integer({ min: 1, max: 1_000 }, 5),
  ),
  BREAKER_COOLDOWN: described(
    'How long a failing endpoint is not contacted. Afterwards one attempt decides.',
    duration('30s', { minMs: 1 }),
  ),
  WEBHOOK_ALLOWED_NETWORKS: sharedFields.WEBHOOK_ALLOWED_NETWORKS,
  DELIVERY_SHARDS: deliveryShardsField(MOST_SHARDS),
  DELIVERY_CONCURRENCY: described('Deliveries that one worker handles at once.', integer({ min: 1, max: 10_000 }, 200)),
  SUBSCRIPTION_CONCURRENCY: described(
    'Deliveries of one subscription that one worker attempts at once. The others wait in a lane.',
    integer({ min: 1, max: 1_000 }, 10),
  ),
  DELIVERY_RETENTION: sharedFields.DELIVERY_RETENTION,
  PARKED_RETENTION: described(
    'How long a parked delivery is kept.',
    duration('30d', { minMs: 60_000, maxMs: 365 * 86_400_000 }),
  ),
  PARKED_LIMIT_PER_SUBSCRIPTION: sharedFields.PARKED_LIMIT_PER_SUBSCRIPTION,
  PARKED_LIMIT_PER_TENANT: described(
    'Parked deliveries of one tenant that keep their body. The largest subscriptions give way first.',
    integer({ min: 1, max: 1_000_000_000 }, 150_000),
  ),
  SECRET_KEYS: secretKeysField,
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
