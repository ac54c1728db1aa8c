import { randomUUID } from 'node:crypto'
import { type EventType, receives, type Subscription, type SubscriptionId } from '@switchhook/contracts'
import { revisionKey, subscriptionOrderKey, subscriptionsKey } from './keys.ts'
import { type Redis, run } from './redis.ts'
import { createSubscriptionOrder } from './subscription-order.ts'
import { inOrder, placeOf, type SubscriptionPage, type SubscriptionQuery } from './subscription-page.ts'

export type SubscriptionChange = Partial<Pick<Subscription, 'url' | 'eventTypes' | 'description' | 'enabled'>>

/** Every method reads and writes one tenant's subscriptions only, and rejects with Unavailable without Redis. */
export interface SubscriptionStore {
  /** Resolves to what is stored afterwards: one of this id that was there before stays as it is. */
  create(subscription: Subscription): Promise<Subscription>
  /** By age, the oldest first. */
  list(tenant: string | null): Promise<Subscription[]>
  /**
   * A page of `list`, without reading the rest of it.
   * @throws AppError `invalid-request` for a cursor that this list has not given
   */
  page(tenant: string | null, query: SubscriptionQuery): Promise<SubscriptionPage>
  find(tenant: string | null, id: SubscriptionId): Promise<Subscription | undefined>
  /** Resolves to what is stored afterwards; undefined when there is no such subscription. */
  change(tenant: string | null, id: SubscriptionId, change: SubscriptionChange): Promise<Subscription | undefined>
  /**
   * Resolves to what is stored afterwards; undefined when there is no such subscription. `next` is asked again whenever
   * somebody else came between reading and writing; what it throws leaves all as it is.
   */
  revise(
    tenant: string | null,
    id: SubscriptionId,
    next: (present: Subscription) => Subscription,
  ): Promise<Subscription | undefined>
  /** Resolves to whether there was one. */
  remove(tenant: string | null, id: SubscriptionId): Promise<boolean>
  /** The enabled subscriptions that receive events of this type: what was written before the call began is seen. */
  matching(tenant: string | null, eventType: EventType): Promise<readonly Subscription[]>
}

interface Cached {
  readonly revision: string
  readonly subscriptions: Promise<readonly Subscription[]>
}

export function createSubscriptionStore(redis: Redis): SubscriptionStore {
  const cache = new Map<string | null, Cached>()
  const order = createSubscriptionOrder(redis, parseSubscription)

  async function list(tenant: string | null): Promise<Subscription[]> {
    const stored = await redis[run]((commands) => commands.hvals(subscriptionsKey(tenant)))
    return inOrder(stored.map(parseSubscription))
  }

  /** Reads and writes again for as long as another writer changes the subscription in between. */
  async function write<After extends Subscription | undefined>(
    tenant: string | null,
    id: SubscriptionId,
    next: (present: Subscription | undefined) => After,
  ): Promise<{ before: Subscription | undefined; after: After }> {
    for (;;) {
      const read = (await redis[run]((commands) => commands.hget(subscriptionsKey(tenant), id))) ?? ''
      const before = read === '' ? undefined : parseSubscription(read)
      const after = next(before)
      const written = after === undefined ? '' : JSON.stringify(after)
      if (written === read) return { before, after }
      const subscription = after ?? before
      const place = subscription === undefined ? '' : placeOf(subscription)
      const result = await redis[run]((commands) =>
        commands.runScript(
          'write-subscription',
          [subscriptionsKey(tenant), revisionKey(tenant), subscriptionOrderKey(tenant)],
          [id, read, written, randomUUID(), place],
        ),
      )
      if (result === 1) return { before, after }
    }
  }

  return {
    list,
    page: (tenant, query) => order.page(tenant, query),
    async create(subscription) {
      const { after } = await write(subscription.tenant, subscription.id, (present) => present ?? subscription)
      return after
    },
    async find(tenant, id) {
      const stored = await redis[run]((commands) => commands.hget(subscriptionsKey(tenant), id))
      return stored === null ? undefined : parseSubscription(stored)
    },
    async change(tenant, id, change) {
      const { after } = await write(tenant, id, (present) => present && { ...present, ...change })
      return after
    },
    async revise(tenant, id, next) {
      const { after } = await write(tenant, id, (present) => present && next(present))
      return after
    },
    async remove(tenant, id) {
      const { before } = await write(tenant, id, () => undefined)
      return before !== undefined
    },
    async matching(tenant, eventType) {
      const revision = await redis[run]((commands) => commands.get(revisionKey(tenant)))
      let cached = cache.get(tenant)
      if (revision === null || cached?.revision !== revision) {
        // Read after its revision, so it may be newer than that, never older; callers that come meanwhile share it.
        cached = { revision: revision ?? '', subscriptions: list(tenant) }
        remember(cache, tenant, revision, cached)
      }
      const subscriptions = await cached.subscriptions
      return subscriptions.filter((subscription) => receives(subscription, eventType))
    },
  }
}

/** A tenant without a revision never had a subscription: anybody may name such tenants, so they are not kept. */
function remember(
  cache: Map<string | null, Cached>,
  tenant: string | null,
  revision: string | null,
  cached: Cached,
): void {
  if (revision === null) {
    cache.delete(tenant)
    return
  }
  cache.set(tenant, cached)
  cached.subscriptions.catch(() => {
    if (cache.get(tenant) === cached) cache.delete(tenant)
  })
}

/** Written by this store alone, so its shape is known. */
export const parseSubscription = (stored: string): Subscription => JSON.parse(stored) as Subscription
