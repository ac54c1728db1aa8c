import { envelopesOf } from '../events/envelope.ts'
import type { EventType, PlatformEvent } from '../events/event.ts'
import { exampleDataOf } from '../events/event-catalogue.ts'
import { deliveryIdsOf, type EventId } from '../ids.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import type { Delivery } from './delivery.ts'
import type { Trial } from './trial.ts'

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

/** A test delivery: the documented example of an event type with `occurredAt` set to `at`. */
export function exampleDeliveryOf(
  { eventId, eventType, trial, at }: { eventId: EventId; eventType: EventType; trial: Trial; at: Date },
  subscription: Pick<Subscription, 'id' | 'url' | 'tenant'>,
): Delivery {
  const occurredAt = at.toISOString()
  const data = exampleDataOf(eventType, at)
  const event = { eventId, eventType, occurredAt, tenant: subscription.tenant, data }
  return { ...firstDeliveriesOf(event, occurredAt, JSON.stringify(data))(subscription), trial }
}
