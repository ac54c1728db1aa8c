import type { EventId, EventSubject, EventType, SubscriptionId } from '@switchhook/contracts'

/** What is remembered of an event that was fanned out: to whom, and when. */
export interface EventRecord {
  readonly eventId: EventId
  readonly eventType: EventType
  readonly tenant: string | null
  /** ISO 8601, UTC, as is the other time. */
  readonly occurredAt: string
  readonly fannedOutAt: string
  /** Those that it became a delivery for. */
  readonly subscriptionIds: readonly SubscriptionId[]
}

/** What is written of an event: its record, and what it can be found by in the list of its tenant's events. */
export interface LoggedEvent extends EventRecord {
  readonly subject: EventSubject
}

export function eventJson({ eventType, tenant, occurredAt, fannedOutAt, subscriptionIds }: EventRecord): string {
  return JSON.stringify({ eventType, tenant, occurredAt, fannedOutAt, subscriptionIds })
}

/** Written by the delivery log alone, so its shape is known. */
export function parseEventRecord(eventId: EventId, stored: string): EventRecord {
  return { eventId, ...(JSON.parse(stored) as Omit<EventRecord, 'eventId'>) }
}
