import type { SubscriptionIndex } from './subscription-index.ts'

/** The subscriptions of a tenant at a revision. */
export interface KnownTenant {
  readonly revision: string
  readonly index: SubscriptionIndex
}

/** A tenant without subscriptions takes about as much memory as this many entries. */
const ENTRIES_PER_TENANT = 4

/**
 * Remembers the tenants that were used last, up to a number of index entries over all of them. The tenant that is
 * remembered last is kept whatever its size: otherwise each of its events would read all its subscriptions.
 */
export class RecentTenants {
  readonly #mostEntries: number
  /** The least recently used first. */
  readonly #tenants = new Map<string | null, KnownTenant & { readonly entries: number }>()
  #entries = 0

  constructor(mostEntries: number) {
    this.#mostEntries = mostEntries
  }

  get(tenant: string | null): KnownTenant | undefined {
    const known = this.#tenants.get(tenant)
    if (known !== undefined) {
      this.#tenants.delete(tenant)
      this.#tenants.set(tenant, known)
    }
    return known
  }

  set(tenant: string | null, { revision, index }: KnownTenant): void {
    this.delete(tenant)
    const entries = ENTRIES_PER_TENANT + index.size
    this.#tenants.set(tenant, { revision, index, entries })
    this.#entries += entries
    for (const [oldest] of this.#tenants) {
      if (this.#entries <= this.#mostEntries || oldest === tenant) return
      this.delete(oldest)
    }
  }

  delete(tenant: string | null): void {
    this.#entries -= this.#tenants.get(tenant)?.entries ?? 0
    this.#tenants.delete(tenant)
  }
}
