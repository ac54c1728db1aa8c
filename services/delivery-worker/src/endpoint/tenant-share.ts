import { type Delivery, messageIdentityOf, type SubscriptionId, type Tenant } from '@switchhook/contracts'
import { runningMs as runningClockMs } from '@switchhook/runtime'
import { LRUCache } from 'lru-cache'
import type { Clocks } from '../clocks.ts'
import { QUICK_MS } from './turn-limit.ts'

export interface TenantShareDeps extends Pick<Clocks, 'nowMs'> {
  /** POSTs of one tenant that may hang in this worker at a time before its endpoints need to be known as quick. */
  readonly mostHanging: number
  /** A clock that a stall of this process does not move on: it would make every POST in progress hang. */
  readonly runningMs?: () => number
}

/** A POST that takes longer hangs: it keeps a place of a due queue from other deliveries. */
export const HANGING_MS = 1_000
/** How long one quick result shows that an endpoint is quick. */
const KNOWN_QUICK_MS = 60_000
/** Beyond it, endpoints are forgotten: while their tenant exceeds its share, their next delivery goes through a lane. */
const MAX_QUICK = 10_000

/** A tenant's POSTs in progress, by message, in the order of their start. */
interface Posts {
  readonly recent: Map<string, { readonly subscriptionId: SubscriptionId; readonly startedAtMs: number }>
  readonly hanging: Map<string, SubscriptionId>
}

/**
 * Bounds what the hanging POSTs of one tenant take of the worker. Only POSTs that hang count, so the share does not slow a
 * large tenant whose endpoints are quick. A tenant beyond its share keeps the places of those endpoints that are known to be
 * quick.
 */
export function createTenantShare({ mostHanging, nowMs, runningMs = runningClockMs }: TenantShareDeps) {
  const tenants = new Map<Tenant, Posts>()
  const quick = new LRUCache<SubscriptionId, true>({
    max: MAX_QUICK,
    ttl: KNOWN_QUICK_MS,
    ttlResolution: 0,
    perf: { now: nowMs },
  })

  function hangingOf(tenant: Tenant): Posts['hanging'] | undefined {
    const posts = tenants.get(tenant)
    if (posts === undefined) return undefined
    for (const [id, { subscriptionId, startedAtMs }] of posts.recent) {
      if (runningMs() - startedAtMs < HANGING_MS) break
      posts.recent.delete(id)
      posts.hanging.set(id, subscriptionId)
    }
    return posts.hanging
  }

  return {
    /** Whether the delivery may hang although its tenant has used up its share. */
    isExceededBy: ({ tenant, subscriptionId }: Delivery): boolean => {
      const hanging = hangingOf(tenant)
      if (hanging === undefined || hanging.size <= mostHanging) return false
      return !quick.has(subscriptionId) || [...hanging.values()].includes(subscriptionId)
    },
    began: (delivery: Delivery): void => {
      const { tenant, subscriptionId } = delivery
      const posts = tenants.get(tenant) ?? { recent: new Map(), hanging: new Map() }
      posts.recent.set(messageIdentityOf(delivery), { subscriptionId, startedAtMs: runningMs() })
      tenants.set(tenant, posts)
    },
    /** Does nothing for a POST that has ended before. */
    ended: (delivery: Delivery): void => {
      const posts = tenants.get(delivery.tenant)
      if (posts === undefined) return
      const id = messageIdentityOf(delivery)
      posts.recent.delete(id)
      posts.hanging.delete(id)
      if (posts.recent.size + posts.hanging.size === 0) tenants.delete(delivery.tenant)
    },
    /** A quick failure shows it, too: it holds no place. */
    noteDuration: ({ subscriptionId }: Delivery, durationMs: number): void => {
      if (durationMs < QUICK_MS) quick.set(subscriptionId, true)
    },
  }
}
