import type { Tenant } from '@switchhook/contracts'
import { BACKLOGS, backlogOf } from '@switchhook/messaging'
import { getOrCreate } from '@switchhook/runtime'

/** A tenant is over its share with this number of events in progress, … */
const MAX_EVENTS = 30
/**
 * … and at least this part of all events in progress. Many tenants that are equally busy are handled directly: with a
 * backlog for each, packets hold few events, and all of them become slower (ADR 0039).
 */
const SHARE = 0.05
/** About one packet: while a tenant's events keep coming, the next packet is always open or on its way. */
const MAX_LIGHT_PACKING = 100
/**
 * Deliveries give way to those of other tenants if their tenant made more than this part of the recent ones, … When
 * deliveries are late, such a tenant is deferred.
 */
const LARGE_SHARE = 0.1
/** … and more than this number: about 100 a second. */
const MIN_LARGE_DELIVERIES = 200

export const AGE_EVERY_MS = 1_000

/** Where an event goes: it is handled directly, or packed into a backlog. */
type EventRoute = ({ readonly to: 'handling' } | { readonly to: 'backlog'; readonly backlog: number }) & {
  /** Call it when the event is handled or packed. Until then it counts as its tenant's. */
  readonly end: () => void
}

/** What a tenant has in progress, and what it made recently. */
interface Account {
  /** Events that are to be handled directly and are not finished: those that wait to begin, too. */
  inProgress: number
  /** Events that wait for the confirm of their packet. */
  packing: number
  /** Deliveries; halved by `age`. */
  recent: number
  /** The tenant's events go there until it is empty. Undefined: they are handled directly. */
  backlog: number | undefined
}

/**
 * Decides whose events are handled directly and whose go to a backlog. A tenant over its share is deferred: all its further
 * events go to one backlog until that is empty. Knows only the tenants with recent events.
 */
export class TenantShares {
  readonly #accounts = new Map<Tenant, Account>()
  #recent = 0
  #inProgress = 0

  /** @param areDeliveriesLate more deliveries are due than workers take: tenants with a large part of them are deferred */
  route(tenant: Tenant, areDeliveriesLate: boolean): EventRoute {
    const account = this.#accountOf(tenant)
    if (this.#isOver(account, areDeliveriesLate)) account.backlog ??= this.#freeBacklog(tenant)
    const { backlog } = account
    if (backlog !== undefined) {
      account.packing += 1
      return { to: 'backlog', backlog, end: () => void (account.packing -= 1) }
    }
    const count = (change: 1 | -1): void => {
      account.inProgress += change
      this.#inProgress += change
    }
    count(1)
    return { to: 'handling', end: () => count(-1) }
  }

  /** Counts deliveries that are about to be published, or that an event from a backlog has made. */
  countRecent(tenant: Tenant, deliveries: number): void {
    this.#accountOf(tenant).recent += deliveries
    this.#recent += deliveries
  }

  /** Whether a tenant's deliveries give way to those of other tenants. */
  givesWay(tenant: Tenant): boolean {
    return this.#isLarge(this.#accountOf(tenant))
  }

  backlogs(): ReadonlySet<number> {
    return new Set([...this.#accounts.values()].flatMap(({ backlog }) => backlog ?? []))
  }

  size(): number {
    return this.#accounts.size
  }

  deferredTenants(): number {
    return [...this.#accounts.values()].filter(({ backlog }) => backlog !== undefined).length
  }

  /**
   * Tenants whose backlogs are empty are no longer deferred, unless many of their events are on the way there. Otherwise a
   * steady stream of events, deferred after a short stall, would take this longer way for ever.
   */
  endDeferrals(isEmpty: (backlog: number) => boolean): void {
    for (const account of this.#accounts.values()) {
      const { backlog, packing } = account
      if (backlog !== undefined && packing <= MAX_LIGHT_PACKING && isEmpty(backlog)) account.backlog = undefined
    }
  }

  /** Call it every `AGE_EVERY_MS`: halves what counts as recent and forgets idle tenants. */
  age(): void {
    this.#recent = 0
    for (const [tenant, account] of this.#accounts) {
      account.recent = Math.floor(account.recent / 2)
      this.#recent += account.recent
      const { inProgress, packing, recent, backlog } = account
      if (inProgress + packing + recent === 0 && backlog === undefined) this.#accounts.delete(tenant)
    }
  }

  #isOver(account: Account, areDeliveriesLate: boolean): boolean {
    if (account.inProgress >= Math.max(MAX_EVENTS, this.#inProgress * SHARE)) return true
    return areDeliveriesLate && this.#isLarge(account)
  }

  #isLarge({ recent }: Account): boolean {
    return recent > Math.max(MIN_LARGE_DELIVERIES, this.#recent * LARGE_SHARE)
  }

  /** The tenant's own backlog by hash, or the next one that no other deferred tenant has. */
  #freeBacklog(tenant: Tenant): number {
    const own = backlogOf(tenant)
    const taken = this.backlogs()
    const inOrder = Array.from({ length: BACKLOGS }, (_, n) => (own + n) % BACKLOGS)
    return inOrder.find((backlog) => !taken.has(backlog)) ?? own
  }

  #accountOf(tenant: Tenant): Account {
    return getOrCreate(this.#accounts, tenant, () => ({ inProgress: 0, packing: 0, recent: 0, backlog: undefined }))
  }
}
