import { DEFAULT_RETRY_WAITS } from '@switchhook/contracts'
import { MAX_SHARDS } from '@switchhook/messaging'
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
import type { DeliveryPolicy } from '@switchhook/store'
import { egressProxyField } from './egress-proxy.ts'

/**
 * With it, no delivery stays unacknowledged for RabbitMQ's consumer timeout of 30 minutes, after which the channel is closed
 * and all its messages return. The worst place is the end of a lane that one subscription fills: up to 10 minutes in which
 * the consumer holds the message while Redis or the broker is away, then at most ten rounds of attempts, each with this
 * deadline and at most 46 s of waits for Redis and a confirm.
 */
const MAX_DELIVERY_TIMEOUT_MS = 60_000

export const workerFields = {
  ...commonFields,
  DELIVERY_TIMEOUT: described(
    'Deadline of one attempt: name look-up, connection, TLS, sending and the status line of the answer. A stall of the worker does not count. At most `1m`.',
    duration('10s', { minMs: 1, maxMs: MAX_DELIVERY_TIMEOUT_MS }),
  ),
  DELIVERY_RETRY_WAITS: described(
    'Waits between attempts, separated by commas. Their number is the number of retries; `none`: no retries.',
    durations(DEFAULT_RETRY_WAITS),
  ),
  BREAKER_FAILURES: described(
    'Transient failures in a row after which an endpoint is not contacted for `BREAKER_COOLDOWN`. So many of its last results also suffice, out of twice as many, if they failed after more than a second.',
    integer({ min: 1, max: 1_000 }, 5),
  ),
  BREAKER_COOLDOWN: described(
    'How long a failing endpoint is not contacted. Afterwards one attempt decides.',
    duration('30s', { minMs: 1 }),
  ),
  WEBHOOK_ALLOWED_NETWORKS: sharedFields.WEBHOOK_ALLOWED_NETWORKS,
  EGRESS_PROXY_URL: described(
    'Proxy through which webhooks leave, `http://` or `https://`, with user and password if it asks for them. It is asked to CONNECT to addresses that the worker has checked, never to names ([proxy](security.md#send-webhooks-through-a-proxy)).',
    egressProxyField,
    'none',
  ),
  DELIVERY_SHARDS: deliveryShardsField(MAX_SHARDS),
  DELIVERY_CONCURRENCY: described(
    'Deliveries that one worker handles concurrently.',
    integer({ min: 1, max: 10_000 }, 200),
  ),
  SUBSCRIPTION_CONCURRENCY: described(
    'Deliveries of one subscription that one worker attempts concurrently. The others wait in a lane.',
    integer({ min: 1, max: 1_000 }, 10),
  ),
  SUBSCRIPTION_CONCURRENCY_QUICK: described(
    'What this limit can grow to while the endpoint answers within 250 ms. Up to `SUBSCRIPTION_CONCURRENCY`: it does not grow.',
    integer({ min: 1, max: 1_000 }, 80),
  ),
  DELIVERY_RETENTION: sharedFields.DELIVERY_RETENTION,
  PARKED_RETENTION: described(
    'How long a parked delivery is kept.',
    duration('30d', { minMs: 60_000, maxMs: 365 * 86_400_000 }),
  ),
  PARKED_LIMIT_PER_SUBSCRIPTION: sharedFields.PARKED_LIMIT_PER_SUBSCRIPTION,
  PARKED_LIMIT_PER_TENANT: described(
    'Parked deliveries of one tenant that keep their body. The largest subscriptions give way first. As many may be [held](held.md).',
    integer({ min: 1, max: 1_000_000_000 }, 150_000),
  ),
  SETTLED_LIMIT_PER_TENANT: described(
    'Settled deliveries of one tenant that are kept for `DELIVERY_RETENTION`. Further ones are kept for about a minute ([limits](limits.md#settled-and-waiting-deliveries)).',
    integer({ min: 1, max: 1_000_000_000 }, 500_000),
  ),
  WAITING_LIMIT_PER_TENANT: described(
    'Deliveries of one tenant that wait for a retry. Further ones are parked instead. One of over 8 KB counts once for each 8 KB ([limits](limits.md#settled-and-waiting-deliveries)).',
    integer({ min: 1, max: 1_000_000_000 }, 1_000_000),
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

export const workerRules: readonly Rule<typeof workerFields>[] = [graceOutlastsDeadline, secretKeysInProduction]

/** How long an attempt may take beyond its deadline before its worker counts as dead. */
const ATTEMPT_SLACK_MS = 5_000

/** A claim of a probe, or a permit, that is older belongs to a dead worker. */
export const maxAttemptMs = (config: WorkerConfig): number => config.DELIVERY_TIMEOUT + ATTEMPT_SLACK_MS

/** How many deliveries may be parked with their body. As many may be held. */
export const storageLimitsOf = (config: WorkerConfig) => ({
  perSubscription: config.PARKED_LIMIT_PER_SUBSCRIPTION,
  perTenant: config.PARKED_LIMIT_PER_TENANT,
})

/** How much a tenant may keep that ends at a known time. */
export const keptLimitsOf = (config: WorkerConfig) => ({
  settled: config.SETTLED_LIMIT_PER_TENANT,
  ledgers: config.SETTLED_LIMIT_PER_TENANT,
  waiting: config.WAITING_LIMIT_PER_TENANT,
})

/** The policy that the api shows. */
export const policyOf = (config: WorkerConfig): DeliveryPolicy => ({
  deliveryTimeoutMs: config.DELIVERY_TIMEOUT,
  retryWaitsMs: config.DELIVERY_RETRY_WAITS,
  breaker: { failures: config.BREAKER_FAILURES, cooldownMs: config.BREAKER_COOLDOWN },
  retention: { deliveryMs: config.DELIVERY_RETENTION, parkedMs: config.PARKED_RETENTION },
  limits: {
    parkedPerSubscription: config.PARKED_LIMIT_PER_SUBSCRIPTION,
    parkedPerTenant: config.PARKED_LIMIT_PER_TENANT,
    settledPerTenant: config.SETTLED_LIMIT_PER_TENANT,
    waitingPerTenant: config.WAITING_LIMIT_PER_TENANT,
    attemptsAtOnce: config.SUBSCRIPTION_CONCURRENCY,
    quickAttemptsAtOnce: Math.max(config.SUBSCRIPTION_CONCURRENCY, config.SUBSCRIPTION_CONCURRENCY_QUICK),
  },
})

/** How long the record of a delivery is kept, by its state. */
export const retentionOf = (config: WorkerConfig) => ({
  finishedRetentionMs: config.DELIVERY_RETENTION,
  parkedRetentionMs: config.PARKED_RETENTION,
})
