import { EVENT_TYPES, type EventType, type Subscription, type SubscriptionId, type Tenant } from '@switchhook/contracts'

/** What fan-out needs of a subscription: no secret, no description. */
export type MatchedSubscription = Pick<Subscription, 'id' | 'tenant' | 'url' | 'eventTypes' | 'enabled'>

export const matchOf = ({ id, tenant, url, eventTypes, enabled }: Subscription): MatchedSubscription => ({
  id,
  tenant,
  url,
  eventTypes,
  enabled,
})

/** A tenant's enabled subscriptions by event type. An event costs as much as the subscriptions that match it. */
export class SubscriptionIndex {
  readonly #byType = new Map<EventType, Map<SubscriptionId, MatchedSubscription>>()
  /** Subscriptions with the same event types share one array, and all share the tenant's name. */
  readonly #eventTypes = new Map<string, readonly EventType[]>()
  readonly #tenant: Tenant

  constructor(tenant: Tenant) {
    this.#tenant = tenant
  }

  /** Entries over all event types: what the index takes in memory. */
  get size(): number {
    let size = 0
    for (const subscriptions of this.#byType.values()) size += subscriptions.size
    return size
  }

  /** Replaces what is known of a subscription. undefined: it does not exist. */
  put(id: SubscriptionId, subscription: Subscription | undefined): void {
    for (const subscriptions of this.#byType.values()) subscriptions.delete(id)
    if (subscription === undefined || !subscription.enabled) return
    const eventTypes = this.#shared(subscription.eventTypes)
    const matched = { ...matchOf(subscription), tenant: this.#tenant, eventTypes }
    for (const eventType of eventTypes) this.#of(eventType).set(id, matched)
  }

  matching(eventType: EventType): MatchedSubscription[] {
    return [...(this.#byType.get(eventType)?.values() ?? [])]
  }

  #of(eventType: EventType): Map<SubscriptionId, MatchedSubscription> {
    const present = this.#byType.get(eventType)
    if (present !== undefined) return present
    const subscriptions = new Map<SubscriptionId, MatchedSubscription>()
    this.#byType.set(eventType, subscriptions)
    return subscriptions
  }

  #shared(eventTypes: readonly EventType[]): readonly EventType[] {
    const name = eventTypes.join(' ')
    const present = this.#eventTypes.get(name)
    if (present !== undefined) return present
    // Subscriptions may name the same types in any order, so the number of orders is bounded, not only that of types.
    if (this.#eventTypes.size < MAX_SHARED) this.#eventTypes.set(name, eventTypes)
    return eventTypes
  }
}

const MAX_SHARED = 2 ** EVENT_TYPES.length
