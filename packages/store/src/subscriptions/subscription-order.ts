import type { Subscription } from '@switchhook/contracts'
import { revisionKey, subscriptionOrderKey, subscriptionsKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import {
  inOrder,
  pageOf,
  placeBefore,
  placeOf,
  type SubscriptionPage,
  type SubscriptionQuery,
} from './subscription-page.ts'

/**
 * Reads a tenant's subscriptions page by page. Redis keeps their places in a sorted set, marked with the revision of the
 * subscriptions that it describes; each write moves both in one step. A write of an older version moves the revision alone, and
 * an older version has no sorted set. In both cases the mark does not match, and the page is taken from all subscriptions of
 * the tenant, once: then the set is built.
 */
export function createSubscriptionOrder(redis: Redis, parse: (stored: string) => Subscription) {
  async function readPage(tenant: string | null, after: string, count: number): Promise<Subscription[] | undefined> {
    const keys = [subscriptionsKey(tenant), revisionKey(tenant), subscriptionOrderKey(tenant)]
    const stored = await redis[run]((commands) => commands.runScript('subscriptions/read-page', keys, [after, count]))
    return stored?.map(parse)
  }

  async function build(tenant: string | null): Promise<Subscription[]> {
    // The revision comes first: a write after it is seen by the script, which then leaves the set alone.
    const [revision, stored] = await redis[run]((commands) =>
      Promise.all([commands.get(revisionKey(tenant)), commands.hvals(subscriptionsKey(tenant))]),
    )
    const all = inOrder(stored.map(parse))
    const keys = [revisionKey(tenant), subscriptionOrderKey(tenant)]
    const args = [revision ?? '', ...all.map(placeOf)]
    // The subscriptions are known already. A set that cannot be written, for example to a full Redis, is built later.
    await redis[run]((commands) => commands.runScript('subscriptions/build-order', keys, args)).catch(() => {})
    return all
  }

  return {
    async page(tenant: string | null, query: SubscriptionQuery): Promise<SubscriptionPage> {
      const after = placeBefore(query)
      const following =
        (await readPage(tenant, after, query.limit + 1)) ??
        (await build(tenant)).filter((subscription) => placeOf(subscription) > after)
      return pageOf(following, query.limit)
    },
  }
}
