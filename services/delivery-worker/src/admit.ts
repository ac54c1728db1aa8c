import type { Delivery, Subscription } from '@switchhook/contracts'
import type { EndpointHealth } from '@switchhook/store'
import type { Withheld } from './decide.ts'

/** What was found at the gate. */
export interface Admission {
  /** The delivery as it may be sent now, or why it must not be. */
  readonly admitted: Delivery | Withheld
  readonly health: EndpointHealth
}

/** What the gate asks. */
export interface Gatekeeper {
  /** In one round trip. */
  readonly look: (
    delivery: Delivery,
  ) => Promise<{ readonly health: EndpointHealth; readonly subscription: Subscription | undefined }>
  readonly canSign: (delivery: Delivery) => boolean
}

/**
 * The gate before every POST. After a DELETE, or while disabled, no *first* attempt leaves (specification, "Webhook
 * subscriptions", rule 3), so the subscription is looked up just before attempt 1, and its present url is used. A delivery
 * that has already failed keeps its schedule and its url; it is signed as its subscription says now, and as it said when
 * the delivery last failed if the subscription has gone.
 */
export function createAdmit({ look, canSign }: Gatekeeper): (delivery: Delivery) => Promise<Admission> {
  return async (delivery) => {
    const { health, subscription } = await look(delivery)
    if (delivery.attempt === 0 && subscription?.enabled !== true) return { admitted: { kind: 'withdrawn' }, health }
    const admitted = subscription === undefined ? delivery : asToldBy(subscription, delivery)
    if (canSign(admitted)) return { admitted, health }
    return { admitted: { kind: 'unsignable', isForGood: subscription === undefined }, health }
  }
}

function asToldBy({ url, signing }: Subscription, delivery: Delivery): Delivery {
  const { signing: _, ...rest } = delivery
  return { ...rest, ...(delivery.attempt === 0 && { url }), ...(signing !== undefined && { signing }) }
}
