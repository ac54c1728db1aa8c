import { parseSubscriptionId, type SubscriptionId, type Tenant } from '@switchhook/contracts'
import { parkingSubscriptionsKey, subscriptionsKey } from '../keys.ts'
import { pipeline, type Redis, run } from '../redis/redis.ts'

/**
 * Lists of one tenant are merged from the lists of at most this many subscriptions: those that parked a delivery last. A
 * read of all of them takes Redis a few milliseconds.
 */
const MAX_LISTS = 1_000

/** The subscriptions of a tenant that parked a delivery, deleted ones included, the last one first. */
export async function parkingSubscriptions(redis: Redis, tenant: Tenant): Promise<SubscriptionId[]> {
  const found = await redis[run]((commands) => commands.zrevrange(parkingSubscriptionsKey(tenant), 0, MAX_LISTS - 1))
  return found.map(parseSubscriptionId)
}

/** Whether the subscription is, or was, one of this tenant. A list of parked deliveries does not name its tenant. */
export async function isOfTenant(redis: Redis, tenant: Tenant, id: SubscriptionId): Promise<boolean> {
  const [exists, parkedAt] = await pipeline(redis, (commands) => [
    commands.hexists(subscriptionsKey(tenant), id),
    commands.zscore(parkingSubscriptionsKey(tenant), id),
  ])
  return exists === 1 || parkedAt !== null
}
