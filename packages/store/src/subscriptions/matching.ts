import type { EventData, EventType, SubscriptionId, Tenant } from '@switchhook/contracts'
import { oneAtATime } from '@switchhook/runtime'
import { LRUCache } from 'lru-cache'
import { revisionKey, subscriptionChangesKey, subscriptionsKey } from '../keys.ts'
import { chunksOf } from '../redis/in-chunks.ts'
import { execute, pipeline, type Redis, runScript, stringsPerTick } from '../redis/redis.ts'
import type { MatchedSubscription } from './filtered-subscriptions.ts'
import { parseSubscription, SubscriptionIndex } from './subscription-index.ts'

const LIMITS = {
  /** Entries of all indexes together, one per subscription and event type, of about 250 bytes each. At least 1. */
  mostEntries: 250_000,
  /** Subscriptions that are read together. Parsing them blocks the process for some milliseconds. */
  pageSize: 1_000,
}

/**
 * Finds the enabled subscriptions to an event type. Holds an index of each tenant's subscriptions and keeps it up to date. A
 * tenant's revision tells whether anything has changed. If so, the list of changes says which subscriptions to read again.
 * Small tenants have no such list: then all subscriptions of the tenant are read. Without Redis it rejects with Unavailable.
 * @param verify rejects unless this Redis holds the data of the installation
 */
export function createMatching(redis: Redis, verify: () => Promise<void>, limits: Readonly<typeof LIMITS> = LIMITS) {
  const tenants = createRecentTenants(limits.mostEntries)

  const readString = stringsPerTick(redis)

  /** A tenant without a revision never had a subscription. Any caller can invent names of tenants, so none is remembered. */
  const none = oneAtATime(async (tenant: Tenant) => {
    await verify()
    tenants.delete(tenant)
    return new SubscriptionIndex()
  })

  const catchUp = oneAtATime(async (tenant: Tenant) => {
    const known = tenants.get(tenant)
    const current = (known && (await readChanges(tenant, known))) ?? (await readAll(tenant))
    tenants.set(tenant, current)
    return current.index
  })

  /** A known revision needs no verification: it is random, so no other Redis has it. */
  async function readChanges(tenant: Tenant, { revision, index }: KnownTenant): Promise<KnownTenant | undefined> {
    const keys = [subscriptionsKey(tenant), revisionKey(tenant), subscriptionChangesKey(tenant)]
    const reply = await runScript(redis, 'subscriptions/read-changes', keys, [revision])
    if (reply === null) return undefined
    const [present, ...changes] = reply
    putAll(index, changes)
    return { revision: present, index }
  }

  /** An unknown revision may come from an emptied Redis in which subscriptions have been created since. */
  async function readAll(tenant: Tenant): Promise<KnownTenant> {
    const [all] = await Promise.all([readInPages(tenant), verify()])
    return all ?? (await readAtOnce(tenant))
  }

  /** The changes since the first page are read afterwards. Undefined if there were more than the list holds. */
  async function readInPages(tenant: Tenant): Promise<KnownTenant | undefined> {
    const index = new SubscriptionIndex()
    // The revision is read first, so the subscriptions are never older than it.
    const [revision, firstPage] = await pipeline(redis, (commands) => [
      commands.get(revisionKey(tenant)),
      commands.hscan(subscriptionsKey(tenant), 0, 'COUNT', limits.pageSize),
    ])
    let [cursor, entries] = firstPage
    putAll(index, entries)
    if (cursor === '0') return { revision: revision ?? '', index }
    while (cursor !== '0') {
      const from = cursor
      ;[cursor, entries] = await redis[execute]((commands) =>
        commands.hscan(subscriptionsKey(tenant), from, 'COUNT', limits.pageSize),
      )
      putAll(index, entries)
    }
    return await readChanges(tenant, { revision: revision ?? '', index })
  }

  async function readAtOnce(tenant: Tenant): Promise<KnownTenant> {
    const index = new SubscriptionIndex()
    const [revision, stored] = await pipeline(redis, (commands) => [
      commands.get(revisionKey(tenant)),
      commands.hgetall(subscriptionsKey(tenant)),
    ])
    putAll(index, Object.entries(stored).flat())
    return { revision: revision ?? '', index }
  }

  /** @param atLeast a revision that was the present one a moment ago: suffices, if it is known */
  async function upToDate(tenant: Tenant, atLeast?: string): Promise<SubscriptionIndex> {
    const held = atLeast === undefined ? undefined : tenants.get(tenant)
    if (held !== undefined && held.revision === atLeast) return held.index
    const revision = await readString(revisionKey(tenant))
    if (revision === null) return await none(tenant)
    const known = tenants.get(tenant)
    return known?.revision === revision ? known.index : await catchUp(tenant)
  }

  /**
   * Includes every write that ended before the call, or before the event was stored, if `revision` is known.
   * @param data only those whose filter this data of an event passes
   * @param revision of the subscriptions after the event was stored. If it is known, Redis is not read
   */
  return async (
    tenant: Tenant,
    eventType: EventType,
    data?: EventData,
    revision?: string,
  ): Promise<readonly MatchedSubscription[]> => (await upToDate(tenant, revision)).matching(eventType, data)
}

/** Pages and changes are lists of ids, each followed by its subscription; '' if that was removed. */
function putAll(index: SubscriptionIndex, entries: readonly string[]): void {
  for (const [id = '', stored = ''] of chunksOf(entries, 2)) {
    index.put(id as SubscriptionId, stored === '' ? undefined : parseSubscription(stored))
  }
}

interface KnownTenant {
  readonly revision: string
  readonly index: SubscriptionIndex
}

/** A tenant without subscriptions takes about as much memory as this many entries. */
const ENTRIES_PER_TENANT = 4

const entriesOf = ({ index }: KnownTenant): number => ENTRIES_PER_TENANT + index.size

/** The installation itself (null) is the empty name, which no tenant has. */
const nameOf = (tenant: Tenant): string => tenant ?? ''

/**
 * Remembers the tenants that were used last, up to a number of index entries over all of them. A tenant that exceeds this
 * number alone does not count towards it, and one such tenant is remembered: reading it again takes seconds, and otherwise
 * each change of a small tenant would cost that.
 * @param maxSize at least 1
 */
export function createRecentTenants(maxSize: number) {
  const tenants = new LRUCache<string, KnownTenant>({ maxSize, sizeCalculation: entriesOf })
  /** Of the tenants that exceed the limit alone, the one that was set last. */
  let oversized: { readonly tenant: Tenant; readonly known: KnownTenant } | undefined

  const forget = (tenant: Tenant): void => {
    if (oversized?.tenant === tenant) oversized = undefined
    tenants.delete(nameOf(tenant))
  }

  return {
    get: (tenant: Tenant): KnownTenant | undefined =>
      oversized?.tenant === tenant ? oversized.known : tenants.get(nameOf(tenant)),
    set(tenant: Tenant, known: KnownTenant): void {
      forget(tenant)
      if (entriesOf(known) > maxSize) oversized = { tenant, known }
      else tenants.set(nameOf(tenant), known)
    },
    delete: forget,
  }
}
