import type { Tenant } from '@switchhook/contracts'
import { BACKLOGS, backlogOf } from '@switchhook/messaging'

/** A tenant is over its share with this number of events in progress, or of their deliveries, … */
const MAX_EVENTS = 30
const MAX_DELIVERIES = 200
/**
 * … and at least this part of all deliveries in progress. Many tenants that are equally busy are handled directly: with a
 * backlog for each, packs hold few events, and all of them become slower (ADR 0039).
 */
const SHARE = 0.05
/** Late deliveries defer the tenants that made more than this part of the recent ones, … */
const LATE_SHARE = 0.1
/** … and more than this number: about 100 a second. */
const FEW_DELIVERIES = 200

interface Standing {
  /** Events that are handled directly and not finished. */
  inProgress: number
  /** Events that wait for the confirm of their pack. */
  packing: number
  /** Deliveries; halved by `age`. */
  recent: number
  /** Deliveries of its latest event. */
  perEvent: number
  /** The tenant's events go there until it is empty. Undefined: they are handled directly. */
  backlog: number | undefined
}

/**
 * Decides whose events are handled directly and whose go to a backlog. A tenant over its share is deferred: all its further
 * events go to one backlog until that is empty. Knows only the tenants with recent events.
 */
export class TenantShares {
  readonly #standings = new Map<Tenant, Standing>()
  #recent = 0
  /** Deliveries in progress, as estimated by `loadOf`. */
  #load = 0

  /**
   * The backlog for the next event of a tenant; undefined: handle it directly. Call `packed` or `finished`
   * afterwards.
   * @param areDeliveriesLate more deliveries are due than workers take: tenants with a large part of them are deferred
   */
  route(tenant: Tenant, areDeliveriesLate: boolean): number | undefined {
    const standing = this.#standingOf(tenant)
    if (this.#isOver(standing, areDeliveriesLate)) standing.backlog ??= this.#freeBacklog(tenant)
    if (standing.backlog === undefined) this.#update(standing, { inProgress: standing.inProgress + 1 })
    else standing.packing += 1
    return standing.backlog
  }

  /** Adds the deliveries of an event that was handled directly or from a backlog. */
  charge(tenant: Tenant, deliveries: number): void {
    const standing = this.#standingOf(tenant)
    standing.recent += deliveries
    this.#update(standing, { perEvent: deliveries })
    this.#recent += deliveries
  }

  finished(tenant: Tenant): void {
    const standing = this.#standingOf(tenant)
    this.#update(standing, { inProgress: standing.inProgress - 1 })
  }

  packed(tenant: Tenant): void {
    this.#standingOf(tenant).packing -= 1
  }

  /** The backlogs of the deferred tenants. */
  backlogs(): ReadonlySet<number> {
    const backlogs = [...this.#standings.values()].flatMap(({ backlog }) => (backlog === undefined ? [] : [backlog]))
    return new Set(backlogs)
  }

  /** The number of known tenants. */
  size(): number {
    return this.#standings.size
  }

  deferredTenants(): number {
    return [...this.#standings.values()].filter(({ backlog }) => backlog !== undefined).length
  }

  /** Tenants whose backlogs are empty are no longer deferred. */
  release(isEmpty: (backlog: number) => boolean): void {
    for (const standing of this.#standings.values()) {
      const { backlog, packing } = standing
      if (backlog !== undefined && packing === 0 && isEmpty(backlog)) standing.backlog = undefined
    }
  }

  /** Call it every second: halves what counts as recent and forgets idle tenants. */
  age(): void {
    this.#recent = 0
    for (const [tenant, standing] of this.#standings) {
      standing.recent = Math.floor(standing.recent / 2)
      this.#recent += standing.recent
      const { inProgress, packing, recent, backlog } = standing
      if (inProgress + packing + recent === 0 && backlog === undefined) this.#standings.delete(tenant)
    }
  }

  #isOver(standing: Standing, areDeliveriesLate: boolean): boolean {
    const { inProgress, perEvent, recent } = standing
    const isBusy = inProgress >= MAX_EVENTS || inProgress * perEvent >= MAX_DELIVERIES
    if (isBusy && loadOf(standing) >= this.#load * SHARE) return true
    return areDeliveriesLate && recent > Math.max(FEW_DELIVERIES, this.#recent * LATE_SHARE)
  }

  #update(standing: Standing, change: Partial<Pick<Standing, 'inProgress' | 'perEvent'>>): void {
    this.#load -= loadOf(standing)
    Object.assign(standing, change)
    this.#load += loadOf(standing)
  }

  /** The tenant's own backlog by hash, or the next one that no other deferred tenant has. */
  #freeBacklog(tenant: Tenant): number {
    const own = backlogOf(tenant)
    const taken = this.backlogs()
    const inOrder = Array.from({ length: BACKLOGS }, (_, n) => (own + n) % BACKLOGS)
    return inOrder.find((backlog) => !taken.has(backlog)) ?? own
  }

  #standingOf(tenant: Tenant): Standing {
    let standing = this.#standings.get(tenant)
    if (standing === undefined) {
      standing = { inProgress: 0, packing: 0, recent: 0, perEvent: 0, backlog: undefined }
      this.#standings.set(tenant, standing)
    }
    return standing
  }
}

/** Deliveries of the tenant's events in progress; an event counts as one at least. */
const loadOf = ({ inProgress, perEvent }: Standing): number => inProgress * Math.max(1, perEvent)
