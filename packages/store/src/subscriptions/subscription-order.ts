import type { Subscription, SubscriptionId, Tenant } from '@switchhook/contracts'
import { subscriptionOrderKey, subscriptionsKey } from '../keys.ts'
import { collectPage, createListCursor, type Page, type PageQuery } from '../paging.ts'
import { execute, type Redis } from '../redis/redis.ts'
import { parseSubscription } from './subscription-index.ts'

/**
 * The place of a subscription in its tenant's list: `<createdAt> <id>`. Places sort by age as plain text, because
 * `createdAt` has a fixed width. Neither part ever changes, so no write moves a subscription to another page.
 */
export const placeOf = ({ createdAt, id }: Pick<Subscription, 'createdAt' | 'id'>): string => `${createdAt} ${id}`

const cursors = createListCursor('', /^\d{4}-\d{2}-\d{2}T[\d:.]{8,12}Z [0-9a-f-]{36}$/)

/** Subscriptions of one read: parsing them takes the process one to two milliseconds. */
const AT_ONCE = 200

/** Lists a tenant's subscriptions, the oldest first, by a sorted set of their places. @param verify as of the store */
export function createSubscriptionOrder(redis: Redis, verify: () => Promise<void>) {
  /** The places after one, in order, a part at a time. */
  async function* places(tenant: Tenant, after = '', atOnce = AT_ONCE): AsyncGenerator<readonly string[], void> {
    for (let last: string | undefined = after; last !== undefined; ) {
      const from = last === '' ? '-' : `(${last}`
      const found: string[] = await redis[execute]((commands) =>
        commands.zrange(subscriptionOrderKey(tenant), from, '+', 'BYLEX', 'LIMIT', 0, atOnce),
      )
      if (found.length > 0) yield found
      last = found.length < atOnce ? undefined : found.at(-1)
    }
  }

  /** Undefined for those that were removed since their places were read. */
  async function subscriptionsAt(tenant: Tenant, some: readonly string[]): Promise<(Subscription | undefined)[]> {
    const stored = await redis[execute]((commands) => commands.hmget(subscriptionsKey(tenant), ...some.map(idOf)))
    return stored.map((json) => (json === null ? undefined : parseSubscription(json)))
  }

  return {
    /** A page of `all`, without reading the others. @throws AppError `invalid-request` for another list's cursor */
    async page(tenant: Tenant, { limit, cursor }: PageQuery): Promise<Page<Subscription>> {
      const after = cursor === undefined ? '' : cursors.parse(cursor)
      const listing = { limit, entries: places(tenant, after, Math.min(limit + 1, AT_ONCE)), cursorOf: cursors.of }
      const page = await collectPage(listing, (some) => subscriptionsAt(tenant, some), Infinity)
      if (page.items.length === 0) await verify()
      return page
    },
    /** The ids of `all`, without reading the subscriptions. */
    async *ids(tenant: Tenant): AsyncGenerator<readonly SubscriptionId[], void> {
      for await (const some of places(tenant)) yield some.map(idOf)
    },
    /** A part at a time. */
    async *all(tenant: Tenant): AsyncGenerator<readonly Subscription[], void> {
      let isEmpty = true
      for await (const some of places(tenant)) {
        isEmpty = false
        yield (await subscriptionsAt(tenant, some)).filter((found) => found !== undefined)
      }
      if (isEmpty) await verify()
    },
  }
}

const idOf = (place: string): SubscriptionId => place.slice(place.indexOf(' ') + 1) as SubscriptionId
