import { type Delivery, leaseEndsAt, receives, type Subscription } from '@switchhook/contracts'
import type { EndpointHealth } from '@switchhook/store'
import type { Withheld } from './decide.ts'

/** A subscription as read from Redis, and how long a first attempt may rely on it. */
export interface Lease {
  readonly subscription: Subscription
  /** Monotonic (`performance.now`), in ms. */
  readonly trustedUntilMs: number
}

export interface Admission {
  /** The delivery as it may be sent now, or the reason to withhold it. */
  readonly admitted: Delivery | Withheld
  readonly health: EndpointHealth
  /** Absent: the subscription was deleted. */
  readonly lease?: Lease
}

export interface AdmitDeps {
  /** Reads the breaker and the subscription in one round trip. */
  readonly look: (
    delivery: Delivery,
  ) => Promise<{ readonly health: EndpointHealth; readonly subscription: Subscription | undefined }>
  readonly canSign: (delivery: Delivery) => boolean
  /** Monotonic, in ms. */
  readonly nowMs: () => number
}

/**
 * Decides before every POST whether a delivery may be sent, to which url, and with which secret.
 *
 * No *first* attempt is sent after a DELETE, while the subscription is disabled, or for an event type that it no longer
 * receives (specification, "Webhook subscriptions", rule 3). If such a delivery was parked without an attempt and then
 * redelivered, it is parked again. A first attempt is sent to the subscription's current url. A delivery that has already
 * failed keeps its schedule and its url. Both are signed with the subscription's current secret, or with the delivery's
 * own if the subscription was deleted.
 */
export function createAdmit({ look, canSign, nowMs }: AdmitDeps): (delivery: Delivery) => Promise<Admission> {
  return async (delivery) => {
    // Taken before the question: the reply may show the state at that time (`subscription-lease.ts`).
    const trustedUntilMs = leaseEndsAt(nowMs())
    const { health, subscription } = await look(delivery)
    const found = { health, ...(subscription !== undefined && { lease: { subscription, trustedUntilMs } }) }
    if (delivery.attempt === 0 && !isWanted(subscription, delivery)) {
      return { ...found, admitted: { kind: 'withdrawn', ...(delivery.run > 1 && { wasParked: true }) } }
    }
    const admitted = subscription === undefined ? delivery : withCurrent(subscription, delivery)
    if (canSign(admitted)) return { ...found, admitted }
    return { ...found, admitted: { kind: 'unsignable', isFinal: subscription === undefined } }
  }
}

/** A trial may have an event type that the subscription does not receive. */
function isWanted(subscription: Subscription | undefined, { eventType, trial }: Delivery): boolean {
  if (subscription === undefined) return false
  return trial === undefined ? receives(subscription, eventType) : subscription.enabled
}

/** The delivery with the subscription's current secret, and for a first attempt its current url. */
function withCurrent({ url, signing }: Subscription, delivery: Delivery): Delivery {
  const { signing: _, ...rest } = delivery
  return { ...rest, ...(delivery.attempt === 0 && { url }), ...(signing !== undefined && { signing }) }
}
