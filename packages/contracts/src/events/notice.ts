import type { OutcomeNumber, ParkedReasonNumber } from '../deliveries/outcome.ts'
import type { DeliveryId, EventId, SubscriptionId } from '../ids.ts'

/** `data` of `webhook.endpoint.failing`. Times are ISO 8601, UTC. */
export interface EndpointFailing {
  readonly subscriptionId: SubscriptionId
  /** Without the query, which may contain a secret. */
  readonly url: string
  readonly failures: number
  readonly since: string
  readonly until: string
  readonly lastOutcome: OutcomeNumber
  readonly lastStatus: number | null
  readonly occurredAt: string
}

/** `data` of `webhook.endpoint.recovered`. */
export interface EndpointRecovered {
  readonly subscriptionId: SubscriptionId
  readonly url: string
  readonly since: string
  readonly recoveredAt: string
  readonly occurredAt: string
}

/** `data` of `webhook.delivery.parked`. */
export interface DeliveryParked {
  readonly deliveryId: DeliveryId
  readonly subscriptionId: SubscriptionId
  readonly url: string
  readonly eventId: EventId
  readonly eventType: string
  readonly reason: ParkedReasonNumber
  readonly run: number
  readonly attempts: number
  readonly lastOutcome: OutcomeNumber
  readonly lastStatus: number | null
  readonly parkedAt: string
  readonly occurredAt: string
}

/** `data` of `webhook.parked.limit`. */
export interface ParkedLimitExceeded {
  readonly subscriptionId: SubscriptionId
  /** How many parked deliveries of the subscription keep their body. */
  readonly limit: number
  readonly parked: number
  readonly occurredAt: string
}

/** `data` of `webhook.held.limit`. */
export interface HeldLimitNear {
  readonly subscriptionId: SubscriptionId
  readonly limit: number
  /** How many were held when they came near the limit. */
  readonly held: number
  readonly occurredAt: string
}

/** Whether an event is about the delivery engine itself. Deliveries of such events never cause further notices. */
export const isNotice = (eventType: string): boolean => eventType.startsWith('webhook.')

export const withoutQuery = (url: string): string => url.replace(/\?.*$/s, '')
