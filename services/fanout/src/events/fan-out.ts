import { type Delivery, firstDeliveriesOf, type PlatformEvent, receives } from '@switchhook/contracts'
import type { MatchedSubscription } from '@switchhook/store'

/**
 * One delivery for each enabled subscription of the event's tenant to its type. The same event always gives the same ids
 * and bodies, so repeating it only causes duplicates that receivers recognise.
 * @param dataJson the event's data, serialised
 */
export function fanOut(
  event: PlatformEvent,
  subscriptions: readonly MatchedSubscription[],
  firstDueAt: string,
  dataJson = JSON.stringify(event.data),
): Delivery[] {
  const deliveryTo = firstDeliveriesOf(event, firstDueAt, dataJson)
  return subscriptions
    .filter((subscription) => subscription.tenant === event.tenant && receives(subscription, event.eventType))
    .map((subscription) => deliveryTo(subscription))
}
