import {
  type Delivery,
  deliveryIdOf,
  newEventId,
  newSubscriptionId,
  type PlatformEvent,
  type Subscription,
} from '@switchhook/contracts'

/** An enabled subscription of `acme` to `call.status`. */
export const aSubscription = (change: Partial<Subscription> = {}): Subscription => ({
  id: newSubscriptionId(),
  tenant: 'acme',
  url: 'https://client.example/hook',
  eventTypes: ['call.status'],
  description: null,
  enabled: true,
  createdAt: '2026-11-20T12:00:00.000Z',
  ...change,
})

/** A `call.status` event of `acme`. */
export const anEvent = (change: Partial<PlatformEvent> = {}): PlatformEvent => ({
  eventId: newEventId(),
  eventType: 'call.status',
  occurredAt: '2026-11-20T12:00:00.000Z',
  tenant: 'acme',
  data: {},
  ...change,
})

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
