import { POLICY_KEY } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'

/** How the workers of an installation deliver: their settings, in ms where it is a time. */
export interface DeliveryPolicy {
  readonly deliveryTimeoutMs: number
  readonly retryWaitsMs: readonly number[]
  readonly breaker: { readonly failures: number; readonly cooldownMs: number }
  readonly retention: { readonly deliveryMs: number; readonly parkedMs: number }
  readonly limits: {
    readonly parkedPerSubscription: number
    readonly parkedPerTenant: number
    readonly attemptsAtOnce: number
    readonly quickAttemptsAtOnce: number
  }
}

const KEPT_MS = 86_400_000

/** The workers report their policy, because only they have its settings. The api shows it. */
export const createDeliveryPolicyStore = (redis: Redis) => ({
  async report(policy: DeliveryPolicy): Promise<void> {
    await redis[run]((commands) => commands.set(POLICY_KEY, JSON.stringify(policy), 'PX', KEPT_MS))
  },
  /** The latest report of any worker. Undefined: no worker reported within a day. */
  async find(): Promise<DeliveryPolicy | undefined> {
    const stored = await redis[run]((commands) => commands.get(POLICY_KEY))
    return stored === null ? undefined : (JSON.parse(stored) as DeliveryPolicy)
  },
})
