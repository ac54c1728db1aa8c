import type { SubscriptionId } from '@switchhook/contracts'
import { type Redis, run, runScript } from '../redis/redis.ts'

export type CrossingStore = ReturnType<typeof createCrossingStore>

/**
 * When the parked or held deliveries of a subscription crossed a limit. It stays the same until the next crossing.
 * @param keyOf the hash with the fields `crossedAt`, `crossedLimit`, `crossedCount` and `told`
 */
export const createCrossingStore = (redis: Redis, keyOf: (id: SubscriptionId) => string) => ({
  /** The last crossing, unless it was reported. `count`: how many there were then. */
  async unreported(subscriptionId: SubscriptionId) {
    const [crossedAt, limit, count, told] = await redis[run]((commands) =>
      commands.hmget(keyOf(subscriptionId), 'crossedAt', 'crossedLimit', 'crossedCount', 'told'),
    )
    if (crossedAt == null || told != null) return undefined
    return { crossedAtMs: Number(crossedAt), limit: Number(limit), count: Number(count) }
  },
  markReported: (subscriptionId: SubscriptionId, { crossedAtMs }: { readonly crossedAtMs: number }): Promise<void> =>
    runScript(redis, 'redis/mark-reported', [keyOf(subscriptionId)], ['crossedAt', crossedAtMs]),
})
