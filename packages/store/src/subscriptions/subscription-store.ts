import { randomUUID } from 'node:crypto'
import { AppError, type Subscription, type SubscriptionId, type Tenant } from '@switchhook/contracts'
import {
  breakerKey,
  contactKey,
  coolDownsKey,
  type Endpoint,
  externalIdsKey,
  logKey,
  pullersKey,
  rejectedKey,
  removedSubscriptionKey,
  removedSubscriptionsKey,
  revisionKey,
  subscriptionBytesKey,
  subscriptionChangesKey,
  subscriptionOrderKey,
  subscriptionsKey,
} from '../keys.ts'
import { execute, type Redis, runScript } from '../redis/redis.ts'
import { parseSubscription } from './subscription-index.ts'
import { createSubscriptionOrder, placeOf } from './subscription-order.ts'

/** Which changes the store lists, so that fan-out does not read a tenant's subscriptions again after each change. */
const CHANGES = {
  /** Tenants with fewer subscriptions have no list: reading all of them again costs as much as reading the list. */
  fromSubscriptions: 100,
  most: 1_000,
}
const CHANGES_RETENTION_MS = 86_400_000

const KEYS = [
  subscriptionsKey,
  revisionKey,
  subscriptionOrderKey,
  subscriptionChangesKey,
  externalIdsKey,
  subscriptionBytesKey,
  removedSubscriptionsKey,
]
const KEYS_OF_ONE = [removedSubscriptionKey, coolDownsKey, breakerKey, contactKey, rejectedKey]

const TOO_MANY_BYTES =
  'The subscriptions of the tenant have too many bytes. Delete some, or shorten their filters, headers and descriptions.'

/** What decides how deliveries of a deleted subscription that have already failed are sent. */
export type RemovedSubscription = Pick<Subscription, 'url' | 'signing' | 'headers'>

/** Deliveries of a deleted subscription can be sent again as long as they are kept while parked. The default of the workers. */
const REMOVED_RETENTION_MS = 30 * 86_400_000
/** Otherwise a tenant that creates and deletes all day would fill Redis. At most 12 KB each. */
const MAX_REMOVED = 10_000

/** How long the circuit breaker of a deleted subscription is kept. Without it, its retries are attempted: they are few, and rare. */
export const REMOVED_BREAKER_MS = 60 * 60_000

export type SubscriptionStore = ReturnType<typeof createSubscriptionStore>

/**
 * Each method touches only the given tenant's subscriptions. Without Redis it rejects with Unavailable.
 * @param verify rejects unless this Redis holds the data of the installation. Called before a subscription is created or
 *   reported missing, because an empty Redis must not look like a tenant without subscriptions.
 */
export function createSubscriptionStore(
  redis: Redis,
  verify: () => Promise<void>,
  limits: {
    /** Subscriptions that a tenant can have. Absent: any number. */
    readonly mostPerTenant?: number
    /** Bytes that they can have together, as stored. Absent: any number. */
    readonly mostBytesPerTenant?: number
    readonly changes?: typeof CHANGES
    /** How long `findRemoved` finds a deleted subscription. */
    readonly removedRetentionMs?: () => Promise<number | undefined>
    /** The newest deleted subscriptions of a tenant that it finds. */
    readonly mostRemoved?: number
  },
) {
  const changes = limits.changes ?? CHANGES

  /** Optimistic locking: reads and writes again if another writer changed the subscription in between. */
  async function write<After extends Subscription | undefined>(
    tenant: Tenant,
    id: SubscriptionId,
    next: (present: Subscription | undefined) => After,
  ): Promise<{ before: Subscription | undefined; after: After }> {
    for (;;) {
      const read = (await redis[execute]((commands) => commands.hget(subscriptionsKey(tenant), id))) ?? ''
      const before = read === '' ? undefined : parseSubscription(read)
      if (before === undefined) await verify()
      const after = next(before)
      const written = after === undefined ? '' : JSON.stringify(after)
      if (written === read) return { before, after }
      const subscription = after ?? before
      const place = subscription === undefined ? '' : placeOf(subscription)
      const ofOne = KEYS_OF_ONE.map((key) => key({ tenant, subscriptionId: id }))
      const keys = [...KEYS.map((key) => key(tenant)), ...ofOne]
      const { fromSubscriptions, most } = changes
      const bounds = [fromSubscriptions, most, CHANGES_RETENTION_MS, limits.mostPerTenant ?? '']
      const externalIds = [before?.externalId ?? '', after?.externalId ?? '']
      const mostBytes = limits.mostBytesPerTenant ?? ''
      const removed = after === undefined && before !== undefined ? await removedArgs(before) : []
      const args = [id, read, written, randomUUID(), place, ...bounds, ...externalIds, mostBytes, ...removed]
      const result = await runScript(redis, 'subscriptions/write-subscription', keys, args)
      if (result === 1) return { before, after }
      if (result === 2) throw new AppError('too-many-subscriptions')
      if (result === 3) throw new AppError('too-many-subscriptions', { detail: TOO_MANY_BYTES })
      if (typeof result === 'string')
        throw new AppError('external-id-taken', { detail: `Subscription ${result} has this externalId.` })
    }
  }

  async function removedArgs({ url, signing, headers }: Subscription): Promise<(string | number)[]> {
    const removed: RemovedSubscription = { url, ...(signing && { signing }), ...(headers && { headers }) }
    const kept = signing === undefined && headers === undefined ? '' : JSON.stringify(removed)
    const retentionMs = (await limits.removedRetentionMs?.()) ?? REMOVED_RETENTION_MS
    // At least as long as cool-downs are kept.
    const knownMs = Math.max(retentionMs, REMOVED_RETENTION_MS)
    return [kept, retentionMs, limits.mostRemoved ?? MAX_REMOVED, knownMs, REMOVED_BREAKER_MS]
  }

  async function find(tenant: Tenant, id: SubscriptionId): Promise<Subscription | undefined> {
    const stored = await redis[execute]((commands) => commands.hget(subscriptionsKey(tenant), id))
    if (stored === null) await verify()
    return stored === null ? undefined : parseSubscription(stored)
  }

  return {
    ...createSubscriptionOrder(redis, verify),
    /** One with this id stays as it is. @throws AppError `too-many-subscriptions` or `external-id-taken` */
    async create(subscription: Subscription): Promise<Subscription> {
      const { after } = await write(subscription.tenant, subscription.id, (present) => present ?? subscription)
      return after
    },
    find,
    /** A deleted subscription as it last was, with the secrets and headers that were valid then. */
    async findRemoved(endpoint: Endpoint): Promise<RemovedSubscription | undefined> {
      const stored = await redis[execute]((commands) => commands.get(removedSubscriptionKey(endpoint)))
      return stored === null ? undefined : (JSON.parse(stored) as RemovedSubscription)
    },
    async findByExternalId(tenant: Tenant, externalId: string): Promise<Subscription | undefined> {
      const id = await redis[execute]((commands) => commands.hget(externalIdsKey(tenant), externalId))
      if (id === null) await verify()
      const found = id === null ? undefined : await find(tenant, id as SubscriptionId)
      return found?.externalId === externalId ? found : undefined
    },
    /** Those of the ids that exist. */
    async findAll(tenant: Tenant, ids: readonly SubscriptionId[]): Promise<ReadonlyMap<SubscriptionId, Subscription>> {
      if (ids.length === 0) return new Map()
      const stored = await redis[execute]((commands) => commands.hmget(subscriptionsKey(tenant), ...ids))
      const found = stored.flatMap((json) => (json === null ? [] : [parseSubscription(json)]))
      if (found.length === 0) await verify()
      return new Map(found.map((subscription) => [subscription.id, subscription]))
    },
    /**
     * Replaces a subscription by `next(present)`. `next` runs again if another writer changed the subscription in between;
     * if it throws, nothing is written. Resolves to the stored subscription; undefined if there is none with this id.
     * @throws AppError `too-many-subscriptions` if it would grow beyond the limit in bytes, or `external-id-taken`
     */
    async revise(tenant: Tenant, id: SubscriptionId, next: (present: Subscription) => Subscription) {
      const { after } = await write(tenant, id, (present) => present && next(present))
      return after
    },
    /**
     * Removes the lists of a deleted subscription that only its own pages show. Call it once fan-out has logged its last
     * delivery; what is logged later expires.
     */
    async removeLists(id: SubscriptionId): Promise<void> {
      await redis[execute]((commands) => commands.unlink(logKey(id), pullersKey(id)))
    },
    /** Resolves to whether the subscription existed. If `check(present)` throws, it is kept. */
    async remove(tenant: Tenant, id: SubscriptionId, check?: (present: Subscription) => void): Promise<boolean> {
      const { before } = await write(tenant, id, (present) => {
        if (present !== undefined) check?.(present)
        return undefined
      })
      return before !== undefined
    },
  }
}
