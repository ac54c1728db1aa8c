import type { Delivery, SubscriptionId, Tenant } from '@switchhook/contracts'
import { getOrCreate, type Logger, startPoll } from '@switchhook/runtime'
import {
  type DeliveryLimits,
  type Endpoint,
  keptWith,
  type ParkedLimitStore,
  shareOf,
  type TenantRoom,
} from '@switchhook/store'
import { LRUCache } from 'lru-cache'
import type { Clocks } from '../clocks.ts'

interface Total {
  readonly bodies: number
  readonly dropped: number
}

export interface LimiterDeps extends Pick<Clocks, 'now'> {
  readonly store: TenantRoom & Pick<ParkedLimitStore, 'trim'>
  readonly limits: DeliveryLimits
  readonly everyMs: number
  /** The share of a limit beyond which `notice` is called. */
  readonly noticeBeyond: number
  /** Publishes the notice of a crossed limit, once per crossing. */
  readonly notice: (endpoint: Endpoint) => Promise<void>
  /** Called when a subscription exceeded its limit, with what `trim` has released. */
  readonly released: (total: Total, endpoint: Endpoint, limit: number) => void
  readonly log: Pick<Logger, 'warn'>
}

/** Registrations expire a day after the deliveries; renewing them every hour is far more than enough. */
const REGISTERED_AGAIN_MS = 3_600_000
/** More subscriptions than store a delivery within an hour. Beyond it they are registered more often. */
const MAX_REGISTERED = 20_000
/** Calls per sweep and subscription. A call trims 250 deliveries, so a sweep every 5 s trims 1,000 deliveries a second. */
const MAX_TRIMS = 20
/** Limit on all records, as a multiple of those with a body: as many are kept without a body as with one. */
const KEPT_PER_WHOLE = 2

/** What this worker has stored of a tenant since its last sweep. */
interface Stored {
  /** Also those whose storing failed, or whose sweep did. */
  readonly subscriptions: Set<SubscriptionId>
  /** Deliveries that were not reported to the store. */
  deliveries: number
}

/**
 * Keeps the parked, or the held, deliveries of each subscription and tenant within the limits. Storing one only registers the subscription and
 * marks it; a sweep every few seconds trims the marked subscriptions, so the limits can be exceeded between two sweeps. All
 * subscriptions of a tenant are counted only when so many deliveries were stored that the tenant may be over its limit. If
 * a worker dies before its sweep, the next delivery of a subscription triggers another.
 */
export function startLimiter(deps: LimiterDeps) {
  const { store, limits, everyMs, noticeBeyond, notice, released, now, log } = deps
  const registeredAtMs = new LRUCache<SubscriptionId, number>({ max: MAX_REGISTERED })
  let marked = new Map<Tenant, Stored>()

  async function register(endpoint: Endpoint): Promise<void> {
    const { subscriptionId } = endpoint
    const atMs = registeredAtMs.get(subscriptionId)
    if (atMs !== undefined && now() - atMs < REGISTERED_AGAIN_MS) return
    await store.register(endpoint)
    registeredAtMs.set(subscriptionId, now())
  }

  const markedOf = (tenant: Tenant): Stored =>
    getOrCreate(marked, tenant, () => ({ subscriptions: new Set(), deliveries: 0 }))

  /** Resolves to how many were stored before, and whether more are left to trim than one sweep may. */
  async function trim(endpoint: Endpoint, whole: number): Promise<{ readonly size: number; readonly isDone: boolean }> {
    const total = { bodies: 0, dropped: 0 }
    let size = 0
    let isDone = false
    try {
      for (let trims = 0; !isDone && trims < MAX_TRIMS; trims++) {
        const trimmed = await store.trim(endpoint, { whole, total: KEPT_PER_WHOLE * whole })
        total.bodies += trimmed.bodies
        total.dropped += trimmed.dropped
        size = Math.max(size, trimmed.count)
        isDone = trimmed.isDone
      }
    } finally {
      if (total.bodies + total.dropped > 0) released(total, endpoint, whole)
    }
    return { size, isDone }
  }

  async function count(tenant: Tenant) {
    const startedAtMs = performance.now()
    const counts = await store.counts(tenant)
    const sizes = [...counts.values()]
    const whole = shareOf(sizes, limits)
    const over = [...counts].flatMap(([subscriptionId, size]) => (size > whole ? [subscriptionId] : []))
    const room = limits.perTenant - keptWith(whole, sizes)
    return { whole, over, room, tookMs: performance.now() - startedAtMs }
  }

  /** Leaves in `stored` what needs a further sweep. */
  async function sweepTenant(tenant: Tenant, stored: Stored): Promise<void> {
    const { subscriptions } = stored
    const over = new Map<SubscriptionId, boolean>()
    /** Resolves to whether a list is longer than a share that is lower than `whole`. Such a list is not done. */
    async function trimAll(whole: number, share: number): Promise<boolean> {
      let isShareExceeded = false
      for (const subscriptionId of subscriptions) {
        const { size, isDone } = await trim({ tenant, subscriptionId }, whole)
        const exceedsShare = share < whole && size > share
        if (exceedsShare) isShareExceeded = true
        if (size > whole * noticeBeyond) over.set(subscriptionId, isDone && !exceedsShare)
        else if (isDone && !exceedsShare) subscriptions.delete(subscriptionId)
      }
      return isShareExceeded
    }

    const known = await store.spend(tenant, stored.deliveries, limits)
    stored.deliveries = 0
    let { isCountDue } = known
    if (!isCountDue) {
      // Another worker makes the first count.
      if (known.whole === undefined) return
      // The other lists may be shorter than when the share was counted, and a trimmed body is lost.
      if (await trimAll(limits.perSubscription, known.whole)) {
        isCountDue = (await store.spend(tenant, 0, limits, true)).isCountDue
      }
    }
    if (isCountDue) {
      const counted = await count(tenant)
      // Before the trimming, which may take longer than a count: another count would add its room to this one.
      await store.counted(tenant, limits, counted)
      for (const subscriptionId of counted.over) subscriptions.add(subscriptionId)
      await trimAll(counted.whole, counted.whole)
    }
    // After the trimming, so that Redis is trimmed even if the broker is away.
    for (const [subscriptionId, isDone] of over) {
      await notice({ tenant, subscriptionId })
      if (isDone) subscriptions.delete(subscriptionId)
    }
  }

  /** Trims the lists of each tenant that has stored a delivery since the last sweep. */
  async function sweep(): Promise<void> {
    const due = marked
    marked = new Map()
    for (const [tenant, stored] of due) {
      try {
        await sweepTenant(tenant, stored)
      } catch (error) {
        log.warn('the limits on deliveries could not be applied; the next sweep tries again', { tenant, error })
      }
      if (stored.subscriptions.size === 0 && stored.deliveries === 0) continue
      const next = markedOf(tenant)
      for (const id of stored.subscriptions) next.subscriptions.add(id)
      next.deliveries += stored.deliveries
    }
  }

  const sweeps = startPoll(everyMs, sweep)

  return {
    /** Stores a delivery, and remembers to check the limits of its tenant. */
    storing:
      <Stored extends readonly [Delivery, ...unknown[]]>(write: (...stored: Stored) => Promise<void>) =>
      async (...stored: Stored): Promise<void> => {
        const [delivery] = stored
        try {
          // Before the write, so that a crash leaves no list that is not registered.
          await register(delivery)
          await write(...stored)
          markedOf(delivery.tenant).deliveries += 1
        } catch (error) {
          // Redis may have been emptied or restored from a backup, so the registration may be lost too.
          registeredAtMs.delete(delivery.subscriptionId)
          throw error
        } finally {
          // Also if Redis is full and refuses the record: the sweep frees memory.
          markedOf(delivery.tenant).subscriptions.add(delivery.subscriptionId)
        }
      },
    sweep,
    async stop(): Promise<void> {
      await sweeps.stop()
      await sweep()
    },
  }
}
