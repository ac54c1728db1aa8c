import {
  type DeliveryId,
  type EventData,
  filterRefusal,
  receives,
  type Subscription,
  type SubscriptionId,
} from '@switchhook/contracts'
import type { EndpointHealth, EventRecord, JournalEntry, ListedDelivery } from '@switchhook/store'

/** Everything that is stored about one event and one subscription. */
export interface Facts {
  readonly eventType: string
  /** Absent: the journal does not have it. */
  readonly data?: EventData
  /** Absent: the event's record has expired, and only deliveries of it are stored. */
  readonly event?: Pick<EventRecord, 'fannedOutAt' | 'subscriptionIds'>
  /** The event's entry in the journal, if its record has expired. Its subscriptions may be cut. */
  readonly journaled?: Pick<JournalEntry, 'fannedOutAt' | 'subscriptionIds' | 'subscriptionCount'>
  readonly subscriptionId: SubscriptionId
  readonly deliveryId: DeliveryId
  /** The current subscription; absent if it was deleted. */
  readonly subscription?: Subscription
  readonly delivery?: ListedDelivery
  /** The body of a parked delivery is no longer kept, and the journal does not have it either. */
  readonly isBodyDropped?: boolean
  /** The current health of the endpoint. */
  readonly health: EndpointHealth
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

/** Why the present filter of the subscription refuses the event. Undefined: it does not, or the event's data is not known. */
export const refusalOf = ({ subscription, eventType, data }: Facts): string | undefined =>
  data && filterRefusal(subscription?.filter, eventType, data)

/** The rule of `receives` without `enabled`: a disabled subscription has a verdict of its own. */
export const receivesType = (subscription: Subscription, eventType: string): boolean =>
  receives({ ...subscription, enabled: true }, eventType)

export const wasMatched = ({ event, journaled, subscriptionId }: Facts): boolean =>
  (event ?? journaled)?.subscriptionIds.includes(subscriptionId) ?? false
