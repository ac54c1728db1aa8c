import {
  coveredTypes,
  type EventData,
  type EventType,
  filteredFields,
  type Subscription,
  type SubscriptionId,
} from '@switchhook/contracts'
import { getOrCreate } from '@switchhook/runtime'
import { FilteredSubscriptions, type MatchedSubscription } from './filtered-subscriptions.ts'

export const matchOf = ({ id, url, filter }: Subscription): MatchedSubscription => ({
  id,
  url,
  ...(filter !== undefined && { filter }),
})

/** Only the subscription store writes subscriptions, so the JSON is not validated. */
export const parseSubscription = (text: string): Subscription => JSON.parse(text) as Subscription

/** What a compiled filter takes in memory, in entries. */
const FILTER_ENTRIES = 5
/** Characters of a long filter that take as much as an entry. */
const CHARACTERS_PER_ENTRY = 40

/** A tenant's enabled subscriptions by event type. An event costs as much as the subscriptions that match it. */
export class SubscriptionIndex {
  readonly #byType = new Map<EventType, Map<SubscriptionId, MatchedSubscription>>()
  readonly #filtered = new Map<EventType, FilteredSubscriptions>()
  readonly #filterEntries = new Map<SubscriptionId, number>()
  #filterSize = 0

  /** Entries over all event types: what the index takes in memory. */
  get size(): number {
    let size = this.#filterSize
    for (const subscriptions of [...this.#byType.values(), ...this.#filtered.values()]) size += subscriptions.size
    return size
  }

  /** Replaces what is known of a subscription. undefined: it does not exist. */
  put(id: SubscriptionId, subscription: Subscription | undefined): void {
    this.#remove(id)
    if (subscription === undefined || !subscription.enabled) return
    const matched = matchOf(subscription)
    for (const eventType of coveredTypes(subscription.eventTypes)) {
      if (filteredFields(matched.filter, eventType) === undefined)
        getOrCreate(this.#byType, eventType, () => new Map()).set(id, matched)
      else getOrCreate(this.#filtered, eventType, () => new FilteredSubscriptions(eventType)).add(matched)
    }
    if (matched.filter === undefined) return
    const entries = FILTER_ENTRIES + Math.ceil(JSON.stringify(matched.filter).length / CHARACTERS_PER_ENTRY)
    this.#filterEntries.set(id, entries)
    this.#filterSize += entries
  }

  /** @param data of an event: only the subscriptions whose filters it passes */
  matching(eventType: EventType, data?: EventData): MatchedSubscription[] {
    const filtered = this.#filtered.get(eventType)
    return [...(this.#byType.get(eventType)?.values() ?? []), ...(filtered?.matching(data) ?? [])]
  }

  #remove(id: SubscriptionId): void {
    for (const subscriptions of [...this.#byType.values(), ...this.#filtered.values()]) subscriptions.delete(id)
    this.#filterSize -= this.#filterEntries.get(id) ?? 0
    this.#filterEntries.delete(id)
  }
}
