import type { EventSubject, PlatformEvent, SubscriptionId } from '@switchhook/contracts'

/** An event as fan-out records it, in the journal and in the lists of its deliveries. */
export interface LoggedEvent extends Pick<PlatformEvent, 'eventId' | 'eventType' | 'tenant' | 'occurredAt'> {
  /** ISO 8601, UTC. */
  readonly fannedOutAt: string
  /** The subscriptions that got a delivery. */
  readonly subscriptionIds: readonly SubscriptionId[]
  readonly subject: EventSubject
  /** The event's data, serialised. Absent: the journal does not keep it. */
  readonly dataJson?: string
}
