import {
  type Delivery,
  firstDeliveriesOf,
  type PlatformEvent,
  receives,
  type Subscription,
} from '@switchhook/contracts'

/**
 * One delivery for each enabled subscription of the event's own tenant that asked for its type. The same event gives the
 * same ids and bodies each time, so doing it again costs duplicates that receivers recognise, and nothing else.
 */
export function fanOut(event: PlatformEvent, subscriptions: readonly Subscription[], firstDueAt: string): Delivery[] {
  const deliveryTo = firstDeliveriesOf(event, firstDueAt)
  return subscriptions
    .filter((subscription) => subscription.tenant === event.tenant && receives(subscription, event.eventType))
    .map((subscription) => deliveryTo(subscription))
}
