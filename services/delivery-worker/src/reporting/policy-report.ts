import { startPoll } from '@switchhook/runtime'
import type { DeliveryPolicy, DeliveryPolicyStore } from '@switchhook/store'
import type { WorkerConfig } from '../config.ts'

/** Often enough that a Redis which was emptied knows the policy again soon. */
const REPORT_EVERY_MS = 60_000

/** Reports the worker's policy every minute, so that the api can show it. The next report makes up for a failed one. */
export function startPolicyReport(
  store: Pick<DeliveryPolicyStore, 'report'>,
  policy: DeliveryPolicy,
): () => Promise<void> {
  const poll = startPoll(REPORT_EVERY_MS, () => store.report(policy).catch(() => {}))
  poll.wake()
  return poll.stop
}

export const policyOf = (config: WorkerConfig): DeliveryPolicy => ({
  deliveryTimeoutMs: config.DELIVERY_TIMEOUT,
  retryWaitsMs: config.DELIVERY_RETRY_WAITS,
  breaker: { failures: config.BREAKER_FAILURES, cooldownMs: config.BREAKER_COOLDOWN },
  retention: { deliveryMs: config.DELIVERY_RETENTION, parkedMs: config.PARKED_RETENTION },
  limits: {
    parkedPerSubscription: config.PARKED_LIMIT_PER_SUBSCRIPTION,
    parkedPerTenant: config.PARKED_LIMIT_PER_TENANT,
    attemptsAtOnce: config.SUBSCRIPTION_CONCURRENCY,
    quickAttemptsAtOnce: Math.max(config.SUBSCRIPTION_CONCURRENCY, config.SUBSCRIPTION_CONCURRENCY_QUICK),
  },
})
