import type { Delivery, SubscriptionId } from '@switchhook/contracts'
import type { ParkedLimitStore } from '@switchhook/store'
import type { DeliverDeps } from '../pipeline/deliver.ts'
import { type ParkedLimits, shareParked } from './share-parked.ts'

type Park = DeliverDeps['park']
type Owner = Pick<Delivery, 'tenant' | 'subscriptionId'>

export interface ParkedLimitsDeps {
  readonly store: Pick<ParkedLimitStore, 'register' | 'counts' | 'trim'>
  readonly limits: ParkedLimits
  readonly everyMs: number
  /** Publishes the notice of a crossed limit, once for each crossing. */
  readonly notice: (owner: Owner) => Promise<void>
  /** Counts what was lost because of the limits. */
  readonly released: (released: { readonly bodies: number; readonly dropped: number }) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly log: {
    info(message: string, fields: Readonly<Record<string, unknown>>): void
    warn(message: string, fields: Readonly<Record<string, unknown>>): void
  }
}

export interface ParkedLimiter {
  /** The same, within the limits. */
  readonly parking: (park: Park) => Park
  /** Releases what is beyond the limits, of each tenant that has parked something since. */
  sweep(): Promise<void>
  stop(): Promise<void>
}

/** Far more often than the store forgets a registration, which outlives the parked deliveries by a day. */
const REGISTERED_AGAIN_MS = 3_600_000
/** More subscriptions than park within an hour. Beyond it they are registered more often. */
const MOST_REGISTERED = 20_000
/** In one sweep of one subscription, in calls of 250 deliveries each: 1 000 a second at a sweep every 5 seconds. */
const MOST_TRIMS = 20
/** As many records are kept without a body as with one. */
const KEPT_PER_WHOLE = 2

/**
 * Keeps the parked deliveries of each subscription and tenant within the limits. Parking itself only registers the
 * subscription and marks its tenant; a sweep every few seconds counts and trims, so the limits may be exceeded by what
 * is parked in between. If a worker dies before its sweep, the next delivery that the tenant parks brings another one.
 */
export function startParkedLimiter(deps: ParkedLimitsDeps): ParkedLimiter {
  const { store, limits, everyMs, notice, released, now, log } = deps
  const registeredAtMs = new Map<SubscriptionId, number>()
  let marked = new Set<string | null>()
  let sweeping: Promise<void> = Promise.resolve()

  async function register(owner: Owner): Promise<void> {
    const { subscriptionId } = owner
    const atMs = registeredAtMs.get(subscriptionId)
    if (atMs !== undefined && now() - atMs < REGISTERED_AGAIN_MS) return
    await store.register(owner)
    if (registeredAtMs.size >= MOST_REGISTERED) registeredAtMs.clear()
    registeredAtMs.set(subscriptionId, now())
  }

  /** Resolves to whether more is to be trimmed than one sweep does. */
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
    // Last, because a broker that is away must not keep Redis from being trimmed.
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
        log.warn('the limits of parked deliveries could not be applied; the next sweep tries again', { tenant, error })
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
        // First, so that a crash leaves no list that its tenant does not know.
        await register(delivery)
        await park(delivery, attempt, reason)
      } catch (error) {
        // The registration may be lost as well: Redis may have been emptied, or restored from a backup.
        registeredAtMs.delete(delivery.subscriptionId)
        throw error
      } finally {
        // Also when Redis refuses to park because it is full: the sweep frees memory.
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
