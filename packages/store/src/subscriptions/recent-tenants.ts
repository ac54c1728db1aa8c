import type { Tenant } from '@switchhook/contracts'
import { LRUCache } from 'lru-cache'
import type { SubscriptionIndex } from './subscription-index.ts'

export interface KnownTenant {
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
