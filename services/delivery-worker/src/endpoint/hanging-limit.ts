import type { Delivery, SubscriptionId, Tenant } from '@switchhook/contracts'
import { getOrCreate, runningMs as runningClockMs } from '@switchhook/runtime'
import { LRUCache } from 'lru-cache'
import type { Clocks } from '../clocks.ts'
import { QUICK_MS } from './subscription-turns.ts'

export interface HangingLimitDeps extends Pick<Clocks, 'nowMs'> {
  /** Requests of one tenant that may hang in this worker at a time before its endpoints need to be known as quick. */
  readonly mostHanging: number
  /** A clock that a stall of this process hardly moves on: it would make every request in progress hang. */
  readonly runningMs?: () => number
}

/** An endpoint that takes longer lets a POST hang: it occupies the prefetch of a due queue. */
export const HANGING_MS = 1_000
/** How long one quick result shows that an endpoint is quick. */
const KNOWN_QUICK_MS = 60_000
/** Beyond it, endpoints are forgotten: while their tenant exceeds the limit, their next delivery goes through a lane. */
const MAX_QUICK = 10_000

/**
 * Bounds what the hanging POSTs of one tenant take of the worker. Only POSTs that hang count, so the limit does not slow a
 * large tenant whose endpoints are quick. A tenant beyond the limit keeps sending to those endpoints that are known to be
 * quick.
 */
export function createHangingLimit({ mostHanging, nowMs, runningMs = runningClockMs }: HangingLimitDeps) {
  /** The requests that endpoints have not answered, in the order of their start. */
  const requestsOf = new Map<Tenant, Set<{ readonly subscriptionId: SubscriptionId; readonly beganMs: number }>>()
  const quick = new LRUCache<SubscriptionId, true>({
    max: MAX_QUICK,
    ttl: KNOWN_QUICK_MS,
    ttlResolution: 0,
    perf: { now: nowMs },
  })

  return {
    /** Whether the delivery may hang although its tenant has as many hanging POSTs as it may. */
    isExceededBy: ({ tenant, subscriptionId }: Delivery): boolean => {
      const hangingSinceMs = runningMs() - HANGING_MS
      let hanging = 0
      let isHanging = false
      for (const request of requestsOf.get(tenant) ?? []) {
        if (request.beganMs > hangingSinceMs) break
        hanging += 1
        isHanging ||= request.subscriptionId === subscriptionId
      }
      return hanging > mostHanging && (isHanging || !quick.has(subscriptionId))
    },
    /** Counts a request until the returned function is called. */
    began: ({ tenant, subscriptionId }: Delivery): (() => void) => {
      const requests = getOrCreate(requestsOf, tenant, () => new Set())
      const request = { subscriptionId, beganMs: runningMs() }
      requests.add(request)
      return () => {
        requests.delete(request)
        if (requests.size === 0) requestsOf.delete(tenant)
      }
    },
    /** A quick failure shows it, too: it does not hang. */
    recordDuration: ({ subscriptionId }: Delivery, durationMs: number): void => {
      if (durationMs < QUICK_MS) quick.set(subscriptionId, true)
    },
  }
}
