import type { Tenant } from '@switchhook/contracts'
import type { SubscriptionIndex } from './subscription-index.ts'

export interface KnownTenant {
  readonly revision: string
  readonly index: SubscriptionIndex
}

/** A tenant without subscriptions takes about as much memory as this many entries. */
const ENTRIES_PER_TENANT = 4

/**
 * Remembers the tenants that were used last, up to a number of index entries over all of them. A tenant that exceeds this
 * number alone does not count towards it, and one such tenant is remembered: reading it again takes seconds, and otherwise
 * each change of a small tenant would cost that.
 */
export class RecentTenants {
  readonly #mostEntries: number
  /** The least recently used first. */
  readonly #tenants = new Map<Tenant, KnownTenant & { readonly entries: number }>()
  /** Of all tenants except the oversized one. */
  #entries = 0
  /** Of the tenants that exceed the limit alone, the one that was set last. undefined: there is none. */
  #oversized: { readonly tenant: Tenant } | undefined

  constructor(mostEntries: number) {
    this.#mostEntries = mostEntries
  }

  get(tenant: Tenant): KnownTenant | undefined {
    const known = this.#tenants.get(tenant)
    if (known !== undefined) {
      this.#tenants.delete(tenant)
      this.#tenants.set(tenant, known)
    }
    return known
  }

  set(tenant: Tenant, { revision, index }: KnownTenant): void {
    this.delete(tenant)
    const entries = ENTRIES_PER_TENANT + index.size
    if (entries > this.#mostEntries) {
      if (this.#oversized !== undefined) this.delete(this.#oversized.tenant)
      this.#oversized = { tenant }
    } else {
      this.#entries += entries
    }
    this.#tenants.set(tenant, { revision, index, entries })
    for (const [oldest] of this.#tenants) {
      if (this.#entries <= this.#mostEntries) return
      if (!this.#isOversized(oldest)) this.delete(oldest)
    }
  }

  delete(tenant: Tenant): void {
    if (this.#isOversized(tenant)) this.#oversized = undefined
    else this.#entries -= this.#tenants.get(tenant)?.entries ?? 0
    this.#tenants.delete(tenant)
  }

  #isOversized(tenant: Tenant): boolean {
    return this.#oversized !== undefined && this.#oversized.tenant === tenant
  }
}
