import { randomUUID } from 'node:crypto'
import { type EventType, receives, type Subscription, type SubscriptionId } from '@switchhook/contracts'
import { revisionKey, subscriptionOrderKey, subscriptionsKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import {
  createSubscriptionOrder,
  inOrder,
  placeOf,
  type SubscriptionPage,
  type SubscriptionQuery,
} from './subscription-order.ts'

export type SubscriptionChange = Partial<Pick<Subscription, 'url' | 'eventTypes' | 'description' | 'enabled'>>

/** Each method touches only the given tenant's subscriptions. Without Redis it rejects with Unavailable. */
export interface SubscriptionStore {
  /** Resolves to the stored subscription. If one with this id exists already, it stays as it is. */
  create(subscription: Subscription): Promise<Subscription>
  /** The oldest first. */
  list(tenant: string | null): Promise<Subscription[]>
  /**
   * A page of `list`, without reading the others.
   * @throws AppError `invalid-request` for a cursor that is not from this list
   */
  page(tenant: string | null, query: SubscriptionQuery): Promise<SubscriptionPage>
  find(tenant: string | null, id: SubscriptionId): Promise<Subscription | undefined>
  /** Resolves to the changed subscription; undefined if there is none with this id. */
  change(tenant: string | null, id: SubscriptionId, change: SubscriptionChange): Promise<Subscription | undefined>
  /**
   * Replaces a subscription by `next(present)`. `next` runs again if another writer changed the subscription in between;
   * if it throws, nothing is written. Resolves to the stored subscription; undefined if there is none with this id.
   */
  revise(
    tenant: string | null,
    id: SubscriptionId,
    next: (present: Subscription) => Subscription,
  ): Promise<Subscription | undefined>
  /** Resolves to whether the subscription existed. */
  remove(tenant: string | null, id: SubscriptionId): Promise<boolean>
  /** The enabled subscriptions to this event type. Includes every write that ended before the call. */
  matching(tenant: string | null, eventType: EventType): Promise<readonly Subscription[]>
}

interface Cached {
  readonly revision: string
  readonly subscriptions: Promise<readonly Subscription[]>
}

/**
 * @param verify rejects unless this Redis holds the data of the installation. Called before a subscription is created or
 *   reported missing, because an empty Redis must not look like a tenant without subscriptions.
 */
export function createSubscriptionStore(
  redis: Redis,
  verify: () => Promise<void> = () => Promise.resolve(),
): SubscriptionStore {
  const cache = new Map<string | null, Cached>()
  const order = createSubscriptionOrder(redis, parseSubscription)

  async function readAll(tenant: string | null): Promise<Subscription[]> {
    const stored = await redis[run]((commands) => commands.hvals(subscriptionsKey(tenant)))
    return inOrder(stored.map(parseSubscription))
  }

  /**
   * A list with an unknown revision may come from an emptied Redis in which subscriptions have been created since. A
   * known revision needs no check: it is random, so no other Redis has it.
   */
  async function readVerified(tenant: string | null): Promise<Subscription[]> {
    const [all] = await Promise.all([readAll(tenant), verify()])
    return all
  }

  /** Optimistic locking: reads and writes again if another writer changed the subscription in between. */
  async function write<After extends Subscription | undefined>(
    tenant: string | null,
    id: SubscriptionId,
    next: (present: Subscription | undefined) => After,
  ): Promise<{ before: Subscription | undefined; after: After }> {
    for (;;) {
      const read = (await redis[run]((commands) => commands.hget(subscriptionsKey(tenant), id))) ?? ''
      const before = read === '' ? undefined : parseSubscription(read)
      if (before === undefined) await verify()
      const after = next(before)
      const written = after === undefined ? '' : JSON.stringify(after)
      if (written === read) return { before, after }
      const subscription = after ?? before
      const place = subscription === undefined ? '' : placeOf(subscription)
      const result = await redis[run]((commands) =>
        commands.runScript(
          'subscriptions/write-subscription',
          [subscriptionsKey(tenant), revisionKey(tenant), subscriptionOrderKey(tenant)],
          [id, read, written, randomUUID(), place],
        ),
      )
      if (result === 1) return { before, after }
    }
  }

  return {
    async list(tenant) {
      const all = await readAll(tenant)
      if (all.length === 0) await verify()
      return all
    },
    async page(tenant, query) {
      const page = await order.page(tenant, query)
      if (page.items.length === 0) await verify()
      return page
    },
    async create(subscription) {
      const { after } = await write(subscription.tenant, subscription.id, (present) => present ?? subscription)
      return after
    },
    async find(tenant, id) {
      const stored = await redis[run]((commands) => commands.hget(subscriptionsKey(tenant), id))
      if (stored === null) await verify()
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
        // Read after its revision, so the list is never older than the revision. Concurrent callers share the promise.
        cached = { revision: revision ?? '', subscriptions: readVerified(tenant) }
        remember(cache, tenant, revision, cached)
      }
      const subscriptions = await cached.subscriptions
      return subscriptions.filter((subscription) => receives(subscription, eventType))
    },
  }
}

/** Caches no tenant without a revision: such tenants never had a subscription, and any caller can invent names. */
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

/** Only this store writes subscriptions, so the JSON is not validated. */
export const parseSubscription = (stored: string): Subscription => JSON.parse(stored) as Subscription
