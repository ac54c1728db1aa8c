import type { DeliveryId, EventId, EventSubject, PlatformEvent, SubscriptionId } from '@switchhook/contracts'
import { eventKey } from '../keys.ts'
import { pipeline, type Redis } from '../redis/redis.ts'

/** The stored fan-out of an event: when it happened, and for which subscriptions. */
export interface EventRecord extends Pick<PlatformEvent, 'eventId' | 'eventType' | 'tenant' | 'occurredAt'> {
  /** ISO 8601, UTC. */
  readonly fannedOutAt: string
  /** The subscriptions that got a delivery. */
  readonly subscriptionIds: readonly SubscriptionId[]
}

/** What fan-out writes: the record, and the fields by which the event is found in its tenant's list. */
export interface LoggedEvent extends EventRecord {
  readonly subject: EventSubject
  /** The deliveries to `subscriptionIds`, in the same order. Absent: they are computed, which costs a hash each. */
  readonly deliveryIds?: readonly DeliveryId[]
  /** The event's data, serialised, for the journal. Absent: the event is not journaled. */
  readonly dataJson?: string
}

export function eventJson({ eventType, tenant, occurredAt, fannedOutAt, subscriptionIds }: EventRecord): string {
  return JSON.stringify({ eventType, tenant, occurredAt, fannedOutAt, subscriptionIds })
}

/** Only the delivery log writes records, so the JSON is not validated. */
export function parseEventRecord(eventId: EventId, stored: string): EventRecord {
  return { eventId, ...(JSON.parse(stored) as Omit<EventRecord, 'eventId'>) }
}

/** The ids of those events whose record still exists, in one round trip. */
export async function rememberedOf(
  redis: Redis,
  events: readonly { readonly eventId: EventId }[],
): Promise<ReadonlySet<EventId>> {
  const found = await pipeline(redis, (commands) => events.map(({ eventId }) => commands.exists(eventKey(eventId))))
  return new Set(events.filter((_, i) => found[i] === 1).map(({ eventId }) => eventId))
}
