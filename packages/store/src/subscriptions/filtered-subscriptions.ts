import {
  compileFilter,
  type EventData,
  type EventType,
  type FilterFields,
  fieldValue,
  filteredFields,
  type Subscription,
  type SubscriptionId,
} from '@switchhook/contracts'

type Filterable = Pick<Subscription, 'id' | 'filter'>

interface Filtered<Matched> {
  readonly subscription: Matched
  readonly passes: (data: EventData) => boolean
  readonly place: Place | undefined
}

/** The values and beginnings of a field of which a subscription wants one. */
interface Place {
  readonly field: string
  readonly wants: readonly (readonly [length: number, text: unknown])[]
}

type Bucket<Matched> = Map<SubscriptionId, Filtered<Matched>>

/** The length of a value that is wanted whole. */
const WHOLE = -1

/**
 * A tenant's subscriptions whose filters name one event type. A subscription that wants certain values or beginnings of a
 * field is found by the event's value, so an event costs as much as the subscriptions that share one with it. The filters
 * of all others are judged for each event.
 */
export class FilteredSubscriptions<Matched extends Filterable> {
  readonly #eventType: EventType
  readonly #all: Bucket<Matched> = new Map()
  /** By field, length of the beginning, and text. */
  readonly #placed = new Map<string, Map<number, Map<unknown, Bucket<Matched>>>>()
  readonly #others: Bucket<Matched> = new Map()

  constructor(eventType: EventType) {
    this.#eventType = eventType
  }

  get size(): number {
    return this.#all.size
  }

  /** The subscription must not be present. */
  add(subscription: Matched): void {
    const fields = filteredFields(subscription.filter, this.#eventType) ?? {}
    const place = this.#placeFor(fields)
    const filtered = { subscription, passes: compileFilter(fields), place }
    this.#all.set(subscription.id, filtered)
    if (place === undefined) this.#others.set(subscription.id, filtered)
    for (const [length, text] of place?.wants ?? []) {
      const lengths = presentOr(
        this.#placed,
        place?.field ?? '',
        () => new Map<number, Map<unknown, Bucket<Matched>>>(),
      )
      const texts = presentOr(lengths, length, () => new Map<unknown, Bucket<Matched>>())
      presentOr(texts, text, (): Bucket<Matched> => new Map()).set(subscription.id, filtered)
    }
  }

  delete(id: SubscriptionId): void {
    const { place } = this.#all.get(id) ?? {}
    this.#all.delete(id)
    this.#others.delete(id)
    if (place === undefined) return
    const lengths = this.#placed.get(place.field)
    for (const [length, text] of place.wants) {
      const texts = lengths?.get(length)
      const bucket = texts?.get(text)
      bucket?.delete(id)
      if (bucket?.size === 0) texts?.delete(text)
      if (texts?.size === 0) lengths?.delete(length)
    }
    if (lengths?.size === 0) this.#placed.delete(place.field)
  }

  /** @param data undefined: all, whatever their filters want */
  matching(data: EventData | undefined): Iterable<Matched> {
    if (data === undefined) return [...this.#all.values()].map(({ subscription }) => subscription)
    // A set, because a value can have several of the beginnings that a subscription wants.
    const found = new Set<Matched>()
    const judge = (bucket: Bucket<Matched>): void => {
      for (const { subscription, passes } of bucket.values()) if (passes(data)) found.add(subscription)
    }
    judge(this.#others)
    for (const [field, lengths] of this.#placed) {
      const value = fieldValue(data, field)
      for (const [length, texts] of lengths) {
        const bucket = texts.get(length === WHOLE || typeof value !== 'string' ? value : value.slice(0, length))
        if (bucket !== undefined) judge(bucket)
      }
    }
    return found
  }

  /** The field with the values that the fewest other subscriptions want, because an event has to judge all of those. */
  #placeFor(fields: FilterFields): Place | undefined {
    let best: { readonly place: Place; readonly shared: number } | undefined
    for (const [field, conditions] of Object.entries(fields)) {
      const wants = conditions.flatMap((condition): Place['wants'] => {
        if (typeof condition !== 'object') return [[WHOLE, condition]]
        return condition !== null && 'prefix' in condition ? [[condition.prefix.length, condition.prefix]] : []
      })
      if (wants.length < conditions.length) continue
      const lengths = this.#placed.get(field)
      const shared = Math.max(...wants.map(([length, text]) => lengths?.get(length)?.get(text)?.size ?? 0))
      if (best === undefined || shared < best.shared) best = { place: { field, wants }, shared }
    }
    return best?.place
  }
}

function presentOr<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const value = map.get(key) ?? create()
  map.set(key, value)
  return value
}
