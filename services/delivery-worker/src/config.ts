import { CONFIRM_TIMEOUT_MS, LONGEST_HOLD_MS, MOST_SHARDS } from '@switchhook/messaging'
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
import { LANE_DEPTH, turnsForRetries } from './isolation/isolate.ts'

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
  SUBSCRIPTION_CONCURRENCY_QUICK: described(
    'What this limit can grow to while the endpoint answers within 250 ms. Up to `SUBSCRIPTION_CONCURRENCY`: it does not grow.',
    integer({ min: 1, max: 1_000 }, 100),
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
  LOG_SAMPLE_ACKNOWLEDGED: described(
    'Logs one of this many deliveries that are acknowledged at their first attempt; 1: every one. Failures are always logged.',
    integer({ min: 1, max: 1_000_000 }, 1),
  ),
  STATISTICS_SUBSCRIPTIONS: sharedFields.STATISTICS_SUBSCRIPTIONS,
  SECRET_KEYS: secretKeysField,
}

export type WorkerConfig = Config<typeof workerFields>

/** Otherwise SIGTERM would cut off a delivery in flight, which would then be sent twice. */
const graceOutlastsDeadline: Rule<typeof workerFields> = (config) =>
  config.SHUTDOWN_GRACE > config.DELIVERY_TIMEOUT
    ? undefined
    : 'SHUTDOWN_GRACE must be longer than DELIVERY_TIMEOUT, so that deliveries in flight can finish'

/** Otherwise RabbitMQ would close the channel and redeliver all unacknowledged messages of the consumer, again and again. */
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

/** Time beyond the schedule, for an outage in which a waiting delivery cannot be consumed. */
const OUTAGE_SLACK_MS = 7 * 86_400_000

/** How long the record of a delivery is kept, by its state, in ms. */
export function retentionOf(config: WorkerConfig): {
  readonly settledRetentionMs: number
  readonly waitingRetentionMs: number
  readonly parkedRetentionMs: number
} {
  const scheduleMs = config.DELIVERY_RETRY_WAITS.reduce((sum, waitMs) => sum + waitMs, 0)
  return {
    settledRetentionMs: config.DELIVERY_RETENTION,
    waitingRetentionMs: scheduleMs + OUTAGE_SLACK_MS,
    parkedRetentionMs: config.PARKED_RETENTION,
  }
}

/** RabbitMQ closes a channel that holds a message unacknowledged for longer. Its default. */
export const BROKER_CONSUMER_TIMEOUT_MS = 30 * 60_000

/**
 * Redis commands that one delivery may wait for in series, each for at most 3 s. Twelve: the look before its turn, the look
 * within its turn, the verification of the installation by each of them if the subscription is gone, the claim of a probe,
 * the renewal of a lease at the deadline, parking (the tenant's mark, the list, the record, and the installation once more),
 * and the two reads of a notice.
 */
const STORE_MS = 12 * 3_000

/** Publishes that one attempt may wait for in series: a retry, or a notice after parking. */
const CONFIRMS = 1

const AFTER_ATTEMPT_MS = STORE_MS + CONFIRMS * CONFIRM_TIMEOUT_MS

/**
 * The longest time that a delivery can stay unacknowledged in a worker, in the worst order of events.
 *
 * The worst place is the end of a lane whose prefetch of `LANE_DEPTH` caps is filled by one subscription. Before the last
 * delivery gets its turn, it waits for one round of attempts in flight, one round of first attempts that waited in the
 * worker, and the rounds of the deliveries before it in the lane, which take as many turns at a time as retries may. A round
 * takes the deadline of an attempt and the writes and publishes after it. If Redis or the broker is away, the consumer holds
 * the message for a while, and all of this may follow after the last pause. Other consumers hold a message for less: a
 * receiver check takes two deadlines, and a due delivery moves to a lane after a moment.
 */
export function longestUnackedMs(deliveryTimeoutMs: number, cap: number): number {
  return LONGEST_HOLD_MS + roundsOf(cap) * (deliveryTimeoutMs + AFTER_ATTEMPT_MS)
}

/** The longest deadline of an attempt with which no delivery outlasts the broker's consumer timeout. */
export function longestDeliveryTimeoutMs(cap: number): number {
  return Math.floor((BROKER_CONSUMER_TIMEOUT_MS - LONGEST_HOLD_MS) / roundsOf(cap)) - AFTER_ATTEMPT_MS
}

const roundsOf = (cap: number): number => 2 + Math.ceil((LANE_DEPTH * cap) / turnsForRetries(cap))
