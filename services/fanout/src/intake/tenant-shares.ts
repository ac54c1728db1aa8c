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

export type TenantShares = ReturnType<typeof createTenantShares>

/**
 * Decides whose events are handled directly and whose go to a backlog. A tenant over its share is deferred: all its further
 * events go to one backlog until that is empty. Knows only the tenants with recent events.
 */
export function createTenantShares() {
  const accounts = new Map<Tenant, Account>()
  let recentOfAll = 0
  let inProgressOfAll = 0

  const accountOf = (tenant: Tenant): Account =>
    getOrCreate(accounts, tenant, () => ({ inProgress: 0, packing: 0, recent: 0, backlog: undefined }))

  const isLarge = ({ recent }: Account): boolean => recent > Math.max(MIN_LARGE_DELIVERIES, recentOfAll * LARGE_SHARE)

  const backlogs = (): ReadonlySet<number> => new Set([...accounts.values()].flatMap(({ backlog }) => backlog ?? []))

  /** The tenant's own backlog by hash, or the next one that no other deferred tenant has. */
  function freeBacklog(tenant: Tenant): number {
    const own = backlogOf(tenant)
    const taken = backlogs()
    const inOrder = Array.from({ length: BACKLOGS }, (_, n) => (own + n) % BACKLOGS)
    return inOrder.find((backlog) => !taken.has(backlog)) ?? own
  }

  return {
    /** @param areDeliveriesLate more deliveries are due than workers take: tenants with a large part of them are deferred */
    route(tenant: Tenant, areDeliveriesLate: boolean): EventRoute {
      const account = accountOf(tenant)
      const isOver = account.inProgress >= Math.max(MAX_EVENTS, inProgressOfAll * SHARE)
      if (isOver || (areDeliveriesLate && isLarge(account))) account.backlog ??= freeBacklog(tenant)
      const { backlog } = account
      if (backlog !== undefined) {
        account.packing += 1
        return { to: 'backlog', backlog, end: () => void (account.packing -= 1) }
      }
      const count = (change: 1 | -1): void => {
        account.inProgress += change
        inProgressOfAll += change
      }
      count(1)
      return { to: 'handling', end: () => count(-1) }
    },
    /** Counts deliveries that are about to be published, or that an event from a backlog has made. */
    countRecent(tenant: Tenant, deliveries: number): void {
      accountOf(tenant).recent += deliveries
      recentOfAll += deliveries
    },
    /** Whether a tenant's deliveries give way to those of other tenants. */
    givesWay: (tenant: Tenant): boolean => isLarge(accountOf(tenant)),
    backlogs,
    size: (): number => accounts.size,
    deferredTenants: (): number => [...accounts.values()].filter(({ backlog }) => backlog !== undefined).length,
    /**
     * Tenants whose backlogs are empty are no longer deferred, unless many of their events are on the way there. Otherwise a
     * steady stream of events, deferred after a short stall, would take this longer way for ever.
     */
    endDeferrals(isEmpty: (backlog: number) => boolean): void {
      for (const account of accounts.values()) {
        const { backlog, packing } = account
        if (backlog !== undefined && packing <= MAX_LIGHT_PACKING && isEmpty(backlog)) account.backlog = undefined
      }
    },
    /** Call it every `AGE_EVERY_MS`: halves what counts as recent and forgets idle tenants. */
    age(): void {
      recentOfAll = 0
      for (const [tenant, account] of accounts) {
        account.recent = Math.floor(account.recent / 2)
        recentOfAll += account.recent
        const { inProgress, packing, recent, backlog } = account
        if (inProgress + packing + recent === 0 && backlog === undefined) accounts.delete(tenant)
      }
    },
  }
}
