import { type Delivery, messageKeyOf, type SubscriptionId, type Tenant } from '@switchhook/contracts'
import { getOrCreate, runningMs as runningClockMs } from '@switchhook/runtime'
import { LRUCache } from 'lru-cache'
import type { Clocks } from '../clocks.ts'
import { QUICK_MS } from './subscription-turns.ts'

export interface HangingLimitDeps extends Pick<Clocks, 'nowMs'> {
  /** POSTs of one tenant that may hang in this worker at a time before its endpoints need to be known as quick. */
  readonly mostHanging: number
  /** A clock that a stall of this process does not move on: it would make every POST in progress hang. */
  readonly runningMs?: () => number
}

/** A POST that takes longer hangs: it occupies the prefetch of a due queue. */
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
  /** The POSTs in progress, by message, in the order of their start. */
  const postsOf = new Map<
    Tenant,
    Map<string, { readonly subscriptionId: SubscriptionId; readonly startedAtMs: number }>
  >()
  const quick = new LRUCache<SubscriptionId, true>({
    max: MAX_QUICK,
    ttl: KNOWN_QUICK_MS,
    ttlResolution: 0,
    perf: { now: nowMs },
  })

  return {
    /** Whether the delivery may hang although its tenant has as many hanging POSTs as it may. */
    isExceededBy: ({ tenant, subscriptionId }: Delivery): boolean => {
      let hanging = 0
      let isHanging = false
      for (const post of postsOf.get(tenant)?.values() ?? []) {
        if (runningMs() - post.startedAtMs < HANGING_MS) break
        hanging += 1
        isHanging ||= post.subscriptionId === subscriptionId
      }
      return hanging > mostHanging && (isHanging || !quick.has(subscriptionId))
    },
    began: (delivery: Delivery): void => {
      const { tenant, subscriptionId } = delivery
      const posts = getOrCreate(postsOf, tenant, () => new Map())
      posts.set(messageKeyOf(delivery), { subscriptionId, startedAtMs: runningMs() })
    },
    /** Does nothing for a POST that has ended before. */
    ended: (delivery: Delivery): void => {
      const posts = postsOf.get(delivery.tenant)
      posts?.delete(messageKeyOf(delivery))
      if (posts?.size === 0) postsOf.delete(delivery.tenant)
    },
    /** A quick failure shows it, too: it does not hang. */
    recordDuration: ({ subscriptionId }: Delivery, durationMs: number): void => {
      if (durationMs < QUICK_MS) quick.set(subscriptionId, true)
    },
  }
}
