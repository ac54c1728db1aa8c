import type { Delivery, Subscription } from '@switchhook/contracts'
import type { Withheld } from './decide.ts'

/**
 * The gate before every POST. After a DELETE, or while disabled, no *first* attempt leaves (specification, "Webhook
 * subscriptions", rule 3), so the subscription is looked up just before attempt 1, and its present url is used. A delivery
 * that has already failed keeps its schedule and its url without asking. The endpoint's cool-down and in-flight cap
 * belong here too.
 */
export function createAdmit(
  findSubscription: (tenant: string | null, id: Delivery['subscriptionId']) => Promise<Subscription | undefined>,
): (delivery: Delivery) => Promise<Delivery | Withheld> {
  return async (delivery) => {
    if (delivery.attempt > 0) return delivery
    const subscription = await findSubscription(delivery.tenant, delivery.subscriptionId)
    if (subscription === undefined || !subscription.enabled) return { kind: 'withdrawn' }
    return subscription.url === delivery.url ? delivery : { ...delivery, url: subscription.url }
  }
}
