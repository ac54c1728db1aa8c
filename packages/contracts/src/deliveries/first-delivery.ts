import { envelopesOf, type PlatformEvent } from '../events/event.ts'
import { deliveryIdsOf } from '../ids.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import type { Delivery } from './delivery.ts'

/**
 * Prepares the deliveries of one event, each at slot 0. Shared parts are computed once per event. The same event always
 * gives the same ids and bodies.
 * @param firstDueAt ISO 8601, UTC
 * @param dataJson the data of the event, serialised
 */
export function firstDeliveriesOf(
  event: Omit<PlatformEvent, 'data'>,
  firstDueAt: string,
  dataJson: string,
): (subscription: Pick<Subscription, 'id' | 'url'>) => Delivery {
  const { eventId, eventType, tenant, traceparent } = event
  const envelope = envelopesOf(event, dataJson)
  const idOf = deliveryIdsOf(eventId)
  return ({ id, url }) => {
    const deliveryId = idOf(id)
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
  }
}
