import type { Delivery, Subscription } from '@switchhook/contracts'
import type { EndpointHealth } from '@switchhook/store'
import type { Withheld } from './decide.ts'

/** What was found at the gate. */
export interface Admission {
  /** The delivery as it may be sent now, or why it must not be. */
  readonly admitted: Delivery | Withheld
  readonly health: EndpointHealth
}

/** What the gate asks, each in one round trip. */
export interface Gatekeeper {
  readonly ask: (delivery: Delivery) => Promise<EndpointHealth>
  readonly look: (
    delivery: Delivery,
  ) => Promise<{ readonly health: EndpointHealth; readonly subscription: Subscription | undefined }>
}

/**
 * The gate before every POST. After a DELETE, or while disabled, no *first* attempt leaves (specification, "Webhook
 * subscriptions", rule 3), so the subscription is looked up just before attempt 1, and its present url is used. A delivery
 * that has already failed keeps its schedule and its url without asking.
 */
export function createAdmit({ ask, look }: Gatekeeper): (delivery: Delivery) => Promise<Admission> {
  return async (delivery) => {
    if (delivery.attempt > 0) return { admitted: delivery, health: await ask(delivery) }
    const { health, subscription } = await look(delivery)
    if (subscription === undefined || !subscription.enabled) return { admitted: { kind: 'withdrawn' }, health }
    const isSameUrl = subscription.url === delivery.url
    return { admitted: isSameUrl ? delivery : { ...delivery, url: subscription.url }, health }
  }
}
