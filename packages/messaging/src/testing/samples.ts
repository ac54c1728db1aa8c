import { type Delivery, deliveryIdOf, newEventId, newSubscriptionId, type PlatformEvent } from '@switchhook/contracts'

export function sampleEvent(data: Readonly<Record<string, unknown>> = { state: 3 }): PlatformEvent {
  return {
    eventId: newEventId(),
    eventType: 'call.status',
    occurredAt: '2026-11-20T08:30:00.000Z',
    tenant: 'acme',
    data,
  }
}

export function sampleDelivery(change: Partial<Delivery> = {}): Delivery {
  const [eventId, subscriptionId] = [newEventId(), newSubscriptionId()]
  return {
    deliveryId: deliveryIdOf(eventId, subscriptionId),
    subscriptionId,
    eventId,
    eventType: 'call.status',
    tenant: 'acme',
    url: 'https://client.example/hook?a=ä',
    run: 1,
    slot: 0,
    attempt: 0,
    firstDueAt: '2026-11-20T08:30:00.000Z',
    // Bytes that parsing and serialising the JSON again would change.
    body: Buffer.from('{ "n": 1.0, "id": 12345678901234567890, "text": "ä\\u00e4" }\n'),
    ...change,
  }
}

/** Publishes events one after the other, so that each has a message of its own. */
export async function publishEvents(
  broker: { readonly publishEvent: (event: PlatformEvent) => Promise<void> },
  events: readonly PlatformEvent[],
): Promise<void> {
  for (const event of events) await broker.publishEvent(event)
}
