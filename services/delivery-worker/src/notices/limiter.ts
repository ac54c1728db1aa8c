import type { Delivery, SubscriptionId, Tenant } from '@switchhook/contracts'
import { startPoll } from '@switchhook/runtime'
import type { DeliveryStore, ParkedLimitStore, ParkedLimits } from '@switchhook/store'
import { LRUCache } from 'lru-cache'

type Park = DeliveryStore['park']
type Owner = Pick<Delivery, 'tenant' | 'subscriptionId'>

export interface ParkedLimitsDeps {
  readonly store: Pick<ParkedLimitStore, 'register' | 'spend' | 'counts' | 'counted' | 'trim'>
  readonly limits: ParkedLimits
  readonly everyMs: number
  /** Publishes the notice of a crossed limit, once per crossing. */
  readonly notice: (owner: Owner) => Promise<void>
  /** Counts the bodies and deliveries that were dropped because of the limits. */
  readonly released: (released: { readonly bodies: number; readonly dropped: number }) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly log: {
    info(message: string, fields: Readonly<Record<string, unknown>>): void
    warn(message: string, fields: Readonly<Record<string, unknown>>): void
  }
}

export interface ParkedLimiter {
  /** Parks a delivery and remembers to check the limits of its tenant. */
  readonly parking: (park: Park) => Park
  /** Trims the lists of each tenant that has parked a delivery since the last sweep. */
  sweep(): Promise<void>
  stop(): Promise<void>
}

/** Registrations expire a day after the parked deliveries; renewing them every hour is far more than enough. */
const REGISTERED_AGAIN_MS = 3_600_000
/** More subscriptions than park a delivery within an hour. Beyond it they are registered more often. */
const MAX_REGISTERED = 20_000
/** Calls per sweep and subscription. A call trims 250 deliveries, so a sweep every 5 s trims 1 000 deliveries a second. */
const MAX_TRIMS = 20
/** Limit on all records, as a multiple of those with a body: as many are kept without a body as with one. */
const KEPT_PER_WHOLE = 2

/** What this worker has parked of a tenant since its last sweep. */
interface Parked {
  /** Also those whose parking failed, or whose sweep did. */
  readonly subscriptions: Set<SubscriptionId>
  /** Deliveries that were not reported to the store. */
  deliveries: number
}

/**
 * Keeps the parked deliveries of each subscription and tenant within the limits. Parking only registers the subscription and
 * marks it; a sweep every few seconds trims the marked subscriptions, so the limits can be exceeded between two sweeps. All
 * subscriptions of a tenant are counted only when so many deliveries were parked that the tenant may be over its limit. If
 * a worker dies before its sweep, the next delivery that a subscription parks triggers another.
 */
export function startParkedLimiter(deps: ParkedLimitsDeps): ParkedLimiter {
  const { store, limits, everyMs, notice, released, now, log } = deps
  const registeredAtMs = new LRUCache<SubscriptionId, number>({ max: MAX_REGISTERED })
  let marked = new Map<Tenant, Parked>()

  async function register(owner: Owner): Promise<void> {
    const { subscriptionId } = owner
    const atMs = registeredAtMs.get(subscriptionId)
    if (atMs !== undefined && now() - atMs < REGISTERED_AGAIN_MS) return
    await store.register(owner)
    registeredAtMs.set(subscriptionId, now())
  }

  function markedOf(tenant: Tenant): Parked {
    const parked = marked.get(tenant) ?? { subscriptions: new Set(), deliveries: 0 }
    marked.set(tenant, parked)
    return parked
  }

  /** Resolves to how many were parked before, and whether more are left to trim than one sweep may. */
  async function trim(owner: Owner, whole: number): Promise<{ readonly size: number; readonly isDone: boolean }> {
    const { tenant, subscriptionId } = owner
    const total = { bodies: 0, dropped: 0 }
    let size = 0
    let isDone = false
    for (let trims = 0; !isDone && trims < MAX_TRIMS; trims++) {
      const trimmed = await store.trim(subscriptionId, { whole, total: KEPT_PER_WHOLE * whole })
      released(trimmed)
      total.bodies += trimmed.bodies
      total.dropped += trimmed.dropped
      size = Math.max(size, trimmed.count)
      isDone = trimmed.isDone
    }
    if (total.bodies + total.dropped > 0) {
      log.info('parked deliveries exceed their limit', { tenant, subscriptionId, limit: whole, ...total })
    }
    return { size, isDone }
  }

  async function count(tenant: Tenant) {
    const startedAtMs = performance.now()
    const counts = await store.counts(tenant)
    const sizes = [...counts.values()]
    const whole = shareParked(sizes, limits)
    const over: SubscriptionId[] = []
    for (const [subscriptionId, size] of counts) if (size > whole) over.push(subscriptionId)
    return {
      whole,
      over,
      room: limits.perTenant - keptWith(whole, sizes),
      tookMs: performance.now() - startedAtMs,
    }
  }

  /** Removes from `parked` what needs no further sweep. */
  async function sweepTenant(tenant: Tenant, parked: Parked): Promise<void> {
    const { subscriptions } = parked
    const over = new Map<SubscriptionId, boolean>()
    /** Resolves to whether a list is longer than a share that is lower than `whole`. Such a list is not done. */
    async function trimAll(whole: number, share: number): Promise<boolean> {
      let isShareExceeded = false
      for (const subscriptionId of subscriptions) {
        const { size, isDone } = await trim({ tenant, subscriptionId }, whole)
        const exceedsShare = share < whole && size > share
        if (exceedsShare) isShareExceeded = true
        if (size > whole) over.set(subscriptionId, isDone && !exceedsShare)
        else if (isDone && !exceedsShare) subscriptions.delete(subscriptionId)
      }
      return isShareExceeded
    }

    const known = await store.spend(tenant, parked.deliveries, limits)
    parked.deliveries = 0
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

  async function sweep(): Promise<void> {
    const due = marked
    marked = new Map()
    for (const [tenant, parked] of due) {
      try {
        await sweepTenant(tenant, parked)
      } catch (error) {
        log.warn('the limits on parked deliveries could not be applied; the next sweep tries again', { tenant, error })
      }
      if (parked.subscriptions.size === 0 && parked.deliveries === 0) continue
      const next = markedOf(tenant)
      for (const id of parked.subscriptions) next.subscriptions.add(id)
      next.deliveries += parked.deliveries
    }
  }

  const sweeps = startPoll(everyMs, sweep)

  return {
    parking: (park) => async (delivery, attempt, reason) => {
      try {
        // Before the parking, so that a crash leaves no list that is not registered.
        await register(delivery)
        await park(delivery, attempt, reason)
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
    async stop() {
      await sweeps.stop()
      await sweep()
    },
  }
}

/**
 * How many parked deliveries each subscription of a tenant may keep with their body: the largest number, at most
 * `perSubscription`, with which all subscriptions together stay within `perTenant`. A subscription with fewer loses none, so
 * one with many cannot displace the deliveries of the others.
 * @param counts the number of parked deliveries of each subscription of the tenant
 * @returns at least 1
 */
export function shareParked(counts: readonly number[], { perSubscription, perTenant }: ParkedLimits): number {
  if (keptWith(perSubscription, counts) <= perTenant) return perSubscription
  let [least, most] = [1, perSubscription]
  while (least < most) {
    const share = Math.ceil((least + most) / 2)
    if (keptWith(share, counts) <= perTenant) least = share
    else most = share - 1
  }
  return least
}

function keptWith(share: number, counts: readonly number[]): number {
  let kept = 0
  for (const count of counts) kept += Math.min(count, share)
  return kept
}
