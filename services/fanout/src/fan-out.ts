import {
  type Delivery,
  deliveryIdOf,
  envelopesOf,
  type PlatformEvent,
  receives,
  type Subscription,
} from '@switchhook/contracts'

/**
 * One delivery for each enabled subscription of the event's own tenant that asked for its type. The same event gives the
 * same ids and bodies each time, so doing it again costs duplicates that receivers recognise, and nothing else.
 */
export function fanOut(event: PlatformEvent, subscriptions: readonly Subscription[], firstDueAt: string): Delivery[] {
  const { eventId, eventType, tenant, traceparent } = event
  const envelope = envelopesOf(event)
  return subscriptions
    .filter((subscription) => subscription.tenant === tenant && receives(subscription, eventType))
    .map(({ id, url }) => {
      const deliveryId = deliveryIdOf(eventId, id)
      return {
        deliveryId,
        subscriptionId: id,
        eventId,
        eventType,
        tenant,
        url,
        run: 1,
        slot: 0,
        attempt: 0,
        firstDueAt,
        ...(traceparent !== undefined && { traceparent }),
        body: envelope(deliveryId),
      }
    })
}
