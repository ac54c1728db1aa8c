import type { Subscription, SubscriptionId, Tenant } from '@switchhook/contracts'
import { revisionKey, subscriptionOrderKey, subscriptionsKey } from '../keys.ts'
import { collectPage, createListCursor, type Page, type PageQuery } from '../paging.ts'
import { chunksOf } from '../redis/in-chunks.ts'
import { type Redis, run, runScript } from '../redis/redis.ts'
import { parseSubscription } from './stored-subscription.ts'

/**
 * The place of a subscription in its tenant's list: `<createdAt> <id>`. Places sort by age as plain text, because
 * `createdAt` has a fixed width. Neither part ever changes, so no write moves a subscription to another page.
 */
export const placeOf = ({ createdAt, id }: Pick<Subscription, 'createdAt' | 'id'>): string => `${createdAt} ${id}`

const cursors = createListCursor('', /^\d{4}-\d{2}-\d{2}T[\d:.]{8,12}Z [0-9a-f-]{36}$/)

/** Subscriptions of one read: parsing them takes the process one to two milliseconds. */
const AT_ONCE = 200

/**
 * Reads a tenant's subscriptions in their order, without reading the others. A sorted set holds their places and, as a
 * mark, the revision that it describes; each write updates both in one step. Earlier versions do not know the set: their
 * writes change only the revision. If the mark does not match the revision, the set is built again.
 */
export function createSubscriptionOrder(redis: Redis) {
  /** The places after one, in order, a part at a time. */
  async function* places(tenant: Tenant, after = '', atOnce = AT_ONCE): AsyncGenerator<readonly string[], void> {
    const keys = [subscriptionsKey(tenant), revisionKey(tenant), subscriptionOrderKey(tenant)]
    for (let last: string | undefined = after; last !== undefined; ) {
      const from: string = last
      const found = await runScript(redis, 'subscriptions/read-places', keys, [from, atOnce])
      if (found === null) {
        const later = (await build(tenant)).filter((place) => place > from)
        return yield* chunksOf(later, AT_ONCE)
      }
      if (found.length > 0) yield found
      last = found.length < atOnce ? undefined : found.at(-1)
    }
  }

  /** Resolves to the places of all subscriptions, in order. */
  async function build(tenant: Tenant): Promise<readonly string[]> {
    // The revision is read first. If a write follows, the script sees a newer revision and leaves the set alone.
    const revision = await redis[run]((commands) => commands.get(revisionKey(tenant)))
    const found = new Set<string>()
    for (let cursor: string | undefined; cursor !== '0'; ) {
      const [next, entries]: [string, string[]] = await redis[run]((commands) =>
        commands.hscan(subscriptionsKey(tenant), cursor ?? 0, 'COUNT', AT_ONCE),
      )
      for (let i = 1; i < entries.length; i += 2) found.add(placeOf(parseSubscription(entries[i] ?? '')))
      cursor = next
    }
    const all = [...found].toSorted()
    const keys = [revisionKey(tenant), subscriptionOrderKey(tenant)]
    // A failure is ignored: if the set cannot be written, for example to a full Redis, the next read rebuilds it.
    await runScript(redis, 'subscriptions/build-order', keys, [revision ?? '', ...all]).catch(() => {})
    return all
  }

  /** Undefined for those that were removed since their places were read. */
  async function subscriptionsAt(tenant: Tenant, some: readonly string[]): Promise<(Subscription | undefined)[]> {
    const stored = await redis[run]((commands) => commands.hmget(subscriptionsKey(tenant), ...some.map(idOf)))
    return stored.map((json) => (json === null ? undefined : parseSubscription(json)))
  }

  return {
    /** @throws AppError `invalid-request` for an invalid cursor */
    async page(tenant: Tenant, { limit, cursor }: PageQuery): Promise<Page<Subscription>> {
      const after = cursor === undefined ? '' : cursors.parse(cursor)
      const entries = places(tenant, after, Math.min(limit + 1, AT_ONCE))
      return collectPage({ limit, entries, cursorOf: cursors.of }, (some) => subscriptionsAt(tenant, some), Infinity)
    },
    /** The ids of all subscriptions, in order, a part at a time. */
    async *ids(tenant: Tenant): AsyncGenerator<readonly SubscriptionId[], void> {
      for await (const some of places(tenant)) yield some.map(idOf)
    },
    /** All subscriptions, in order, a part at a time. */
    async *all(tenant: Tenant): AsyncGenerator<readonly Subscription[], void> {
      for await (const some of places(tenant)) {
        yield (await subscriptionsAt(tenant, some)).filter((found) => found !== undefined)
      }
    },
  }
}

const idOf = (place: string): SubscriptionId => place.slice(place.indexOf(' ') + 1) as SubscriptionId
