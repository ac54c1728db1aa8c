import type { Subscription } from '@switchhook/contracts'
import { revisionKey, subscriptionOrderKey, subscriptionsKey } from '../keys.ts'
import { createListCursor } from '../paging.ts'
import { type Redis, run } from '../redis/redis.ts'

export interface SubscriptionQuery {
  readonly limit: number
  readonly cursor?: string
}

export interface SubscriptionPage {
  /** Sorted by place. */
  readonly items: readonly Subscription[]
  /** Null on the last page. */
  readonly nextCursor: string | null
}

/**
 * The place of a subscription in its tenant's list: `<createdAt> <id>`. Places sort by age as plain text, because
 * `createdAt` has a fixed width. Neither part ever changes, so no write moves a subscription to another page.
 */
export const placeOf = ({ createdAt, id }: Pick<Subscription, 'createdAt' | 'id'>): string => `${createdAt} ${id}`

export const inOrder = (subscriptions: readonly Subscription[]): Subscription[] =>
  subscriptions
    .map((subscription) => ({ subscription, place: placeOf(subscription) }))
    .toSorted((a, b) => (a.place < b.place ? -1 : Number(a.place > b.place)))
    .map(({ subscription }) => subscription)

const cursors = createListCursor('', /^\d{4}-\d{2}-\d{2}T[\d:.]{8,12}Z [0-9a-f-]{36}$/)

/** The place after which the page begins; '' for the first page. @throws AppError `invalid-request` for an invalid cursor */
export const placeBefore = ({ cursor }: SubscriptionQuery): string =>
  cursor === undefined ? '' : cursors.parse(cursor)

/** @param following the subscriptions after the cursor, in order; one more than the limit is enough */
export function pageOf(following: readonly Subscription[], limit: number): SubscriptionPage {
  const items = following.slice(0, limit)
  const last = items.at(-1)
  return {
    items,
    nextCursor: last === undefined || following.length === items.length ? null : cursors.of(placeOf(last)),
  }
}

/**
 * Reads a tenant's subscriptions page by page. A sorted set holds their places and, as a mark, the revision that it
 * describes; each write updates both in one step. Earlier versions do not know the set: their writes change only the
 * revision. If the mark does not match the revision, the page is taken from all subscriptions and the set is rebuilt.
 */
export function createSubscriptionOrder(redis: Redis, parse: (stored: string) => Subscription) {
  async function readPage(tenant: string | null, after: string, count: number): Promise<Subscription[] | undefined> {
    const keys = [subscriptionsKey(tenant), revisionKey(tenant), subscriptionOrderKey(tenant)]
    const stored = await redis[run]((commands) => commands.runScript('subscriptions/read-page', keys, [after, count]))
    return stored?.map(parse)
  }

  async function build(tenant: string | null): Promise<Subscription[]> {
    // The revision is read first. If a write follows, the script sees a newer revision and leaves the set alone.
    const [revision, stored] = await redis[run]((commands) =>
      Promise.all([commands.get(revisionKey(tenant)), commands.hvals(subscriptionsKey(tenant))]),
    )
    const all = inOrder(stored.map(parse))
    const keys = [revisionKey(tenant), subscriptionOrderKey(tenant)]
    const args = [revision ?? '', ...all.map(placeOf)]
    // A failure is ignored: if the set cannot be written, for example to a full Redis, the next page rebuilds it.
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
