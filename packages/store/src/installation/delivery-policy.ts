import { POLICY_KEY } from '../keys.ts'
import { execute, type Redis } from '../redis/redis.ts'

/** How the workers of an installation deliver: their settings, in ms where it is a time. */
export interface DeliveryPolicy {
  readonly deliveryTimeoutMs: number
  readonly retryWaitsMs: readonly number[]
  readonly breaker: { readonly failures: number; readonly cooldownMs: number }
  readonly retention: { readonly deliveryMs: number; readonly parkedMs: number }
  readonly limits: {
    readonly parkedPerSubscription: number
    readonly parkedPerTenant: number
    readonly settledPerTenant: number
    readonly waitingPerTenant: number
    readonly attemptsAtOnce: number
    readonly quickAttemptsAtOnce: number
  }
}

/** The workers report their policy, because only they have its settings. The api shows it. */
export const createDeliveryPolicyStore = (redis: Redis) => ({
  async report(policy: DeliveryPolicy): Promise<void> {
    await redis[execute]((commands) => commands.set(POLICY_KEY, JSON.stringify(policy)))
  },
  /** The latest report of any worker, also while none runs. Undefined: none has ever run. */
  async find(): Promise<DeliveryPolicy | undefined> {
    const stored = await redis[execute]((commands) => commands.get(POLICY_KEY))
    return stored === null ? undefined : (JSON.parse(stored) as DeliveryPolicy)
  },
})
