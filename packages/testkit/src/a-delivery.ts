import { type Delivery, deliveryIdOf, newEventId, newSubscriptionId } from '@switchhook/contracts'

/** The first message of a delivery, as fan-out publishes it. Its id is derived from the ids in `change`, if there are any. */
export function aDelivery(change: Partial<Delivery> = {}): Delivery {
  const { eventId = newEventId(), subscriptionId = newSubscriptionId() } = change
  return {
    deliveryId: deliveryIdOf(eventId, subscriptionId),
    subscriptionId,
    eventId,
    eventType: 'call.status',
    tenant: 'acme',
    url: 'https://client.example/hook',
    run: 1,
    slot: 0,
    attempt: 0,
    firstDueAt: '2026-01-01T00:00:00.000Z',
    body: Buffer.from('{}'),
    ...change,
  }
}
