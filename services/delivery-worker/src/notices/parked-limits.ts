import type { Delivery, SubscriptionId } from '@switchhook/contracts'
import type { DeliveryStore, ParkedLimitStore } from '@switchhook/store'
import { LRUCache } from 'lru-cache'

type Park = DeliveryStore['park']
type Owner = Pick<Delivery, 'tenant' | 'subscriptionId'>

/** How many parked deliveries may keep their body. */
export interface ParkedLimits {
  readonly perSubscription: number
  readonly perTenant: number
}

export interface ParkedLimitsDeps {
  readonly store: Pick<ParkedLimitStore, 'register' | 'counts' | 'trim'>
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
const MOST_REGISTERED = 20_000
/** Calls per sweep and subscription. A call trims 250 deliveries, so a sweep every 5 s trims 1 000 deliveries a second. */
const MOST_TRIMS = 20
/** Limit on all records, as a multiple of those with a body: as many are kept without a body as with one. */
const KEPT_PER_WHOLE = 2

/**
 * Keeps the parked deliveries of each subscription and tenant within the limits. Parking only registers the subscription and
 * marks its tenant; a sweep every few seconds counts and trims, so the limits can be exceeded between two sweeps. If a
 * worker dies before its sweep, the next delivery that the tenant parks triggers another.
 */
export function startParkedLimiter(deps: ParkedLimitsDeps): ParkedLimiter {
  const { store, limits, everyMs, notice, released, now, log } = deps
  const registeredAtMs = new LRUCache<SubscriptionId, number>({ max: MOST_REGISTERED })
  let marked = new Set<string | null>()
  let sweeping: Promise<void> = Promise.resolve()

  async function register(owner: Owner): Promise<void> {
    const { subscriptionId } = owner
    const atMs = registeredAtMs.get(subscriptionId)
    if (atMs !== undefined && now() - atMs < REGISTERED_AGAIN_MS) return
    await store.register(owner)
    registeredAtMs.set(subscriptionId, now())
  }

  /** Resolves to whether more deliveries are left to trim than one sweep may. */
  async function trim(owner: Owner, whole: number): Promise<boolean> {
    const { tenant, subscriptionId } = owner
    const total = { bodies: 0, dropped: 0 }
    let isDone = false
    for (let trims = 0; !isDone && trims < MOST_TRIMS; trims++) {
      const trimmed = await store.trim(subscriptionId, { whole, total: KEPT_PER_WHOLE * whole })
      released(trimmed)
      total.bodies += trimmed.bodies
      total.dropped += trimmed.dropped
      isDone = trimmed.isDone
    }
    if (total.bodies + total.dropped > 0) {
      log.info('parked deliveries exceed their limit', { tenant, subscriptionId, limit: whole, ...total })
    }
    return !isDone
  }

  async function sweepTenant(tenant: string | null): Promise<void> {
    const counts = await store.counts(tenant)
    const whole = shareParked(counts.values(), limits)
    const parking = [...counts].filter(([, count]) => count > 0)
    for (const [subscriptionId] of parking) {
      if (await trim({ tenant, subscriptionId }, whole)) marked.add(tenant)
    }
    // After the trimming, so that Redis is trimmed even if the broker is away.
    for (const [subscriptionId, count] of parking) {
      if (count > whole) await notice({ tenant, subscriptionId })
    }
  }

  async function sweepMarked(): Promise<void> {
    const due = marked
    marked = new Set()
    for (const tenant of due) {
      try {
        await sweepTenant(tenant)
      } catch (error) {
        marked.add(tenant)
        log.warn('the limits on parked deliveries could not be applied; the next sweep tries again', { tenant, error })
      }
    }
  }

  function sweep(): Promise<void> {
    sweeping = sweeping.then(sweepMarked)
    return sweeping
  }

  const timer = setInterval(() => void sweep(), everyMs)
  timer.unref()

  return {
    parking: (park) => async (delivery, attempt, reason) => {
      try {
        // Before the parking, so that a crash leaves no list that is not registered.
        await register(delivery)
        await park(delivery, attempt, reason)
      } catch (error) {
        // Redis may have been emptied or restored from a backup, so the registration may be lost too.
        registeredAtMs.delete(delivery.subscriptionId)
        throw error
      } finally {
        // Also if Redis is full and refuses the record: the sweep frees memory.
        marked.add(delivery.tenant)
      }
    },
    sweep,
    async stop() {
      clearInterval(timer)
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
export function shareParked(counts: Iterable<number>, { perSubscription, perTenant }: ParkedLimits): number {
  const ascending = [...counts].filter((count) => count > 0).toSorted((a, b) => a - b)
  let left = perTenant
  for (const [i, count] of ascending.entries()) {
    const fairShare = Math.floor(left / (ascending.length - i))
    if (count > fairShare) return Math.max(1, Math.min(perSubscription, fairShare))
    // Never more than `perSubscription` keep their body.
    left -= Math.min(count, perSubscription)
  }
  return perSubscription
}
