import {
  type Delivery,
  leaseEndsAt,
  SUBSCRIPTION_LEASE_MS,
  type Subscription,
  type Tenant,
} from '@switchhook/contracts'
import type { EndpointHealth } from '@switchhook/store'
import { LRUCache } from 'lru-cache'
import type { Clocks } from '../clocks.ts'

/** The breaker and the subscription of an endpoint, read in one round trip. */
export interface EndpointState {
  readonly health: EndpointHealth
  readonly subscription: Subscription | undefined
  /** As in `BreakerStore.look`. */
  readonly rejected?: string | undefined
}

export interface EndpointLook extends EndpointState {
  /** Monotonic, in ms. */
  readonly trustedUntilMs: number
}

export interface RecentLooksDeps extends Pick<Clocks, 'nowMs'> {
  readonly look: (delivery: Delivery) => Promise<EndpointState>
  /** See `Breaker.isFailing`. */
  readonly isFailing: (delivery: Delivery) => boolean
}

/** Half a lease: the other half is left to connect and to write the request. */
export const LOOK_REUSE_MS = SUBSCRIPTION_LEASE_MS / 2

/** More endpoints than a worker reaches within `LOOK_REUSE_MS`. */
const MAX_RECENT = 10_000

interface Recent {
  readonly tenant: Tenant
  readonly askedAtMs: number
  readonly look: Promise<EndpointLook>
}

/** The looks of the last `LOOK_REUSE_MS`, which all deliveries of an endpoint share. */
export function createRecentLooks({ look, isFailing, nowMs }: RecentLooksDeps) {
  const recent = new LRUCache<string, Recent>({ max: MAX_RECENT })

  return {
    /** Reads the endpoint. The lease begins before the question, because the reply may show the state at that time. */
    ask(delivery: Delivery): Promise<EndpointLook> {
      const { subscriptionId, tenant } = delivery
      const askedAtMs = nowMs()
      const looked = look(delivery).then((state) => ({ ...state, trustedUntilMs: leaseEndsAt(askedAtMs) }))
      const asked = { tenant, askedAtMs, look: looked }
      if (isFailing(delivery)) recent.delete(subscriptionId)
      else recent.set(subscriptionId, asked)
      looked.catch(() => {
        if (recent.peek(subscriptionId) === asked) recent.delete(subscriptionId)
      })
      return looked
    },
    /** A recent look, which may still be on its way. Undefined: none, or this worker has seen the endpoint fail. */
    find(delivery: Delivery): Promise<EndpointLook> | undefined {
      const { subscriptionId, tenant } = delivery
      const known = recent.get(subscriptionId)
      const isValid = known?.tenant === tenant && nowMs() - known.askedAtMs < LOOK_REUSE_MS && !isFailing(delivery)
      return isValid ? known.look : undefined
    },
  }
}
