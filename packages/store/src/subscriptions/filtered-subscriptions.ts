import {
  compileFilter,
  type EventData,
  type EventType,
  type FieldTest,
  type FilterCondition,
  type FilterFields,
  fieldValue,
  filteredFields,
  type Subscription,
  type SubscriptionId,
} from '@switchhook/contracts'
import { getOrCreate } from '@switchhook/runtime'

/** What fan-out needs of a subscription: no secret, no description. */
export type MatchedSubscription = Pick<Subscription, 'id' | 'url' | 'filter'>

interface Filtered {
  readonly subscription: MatchedSubscription
  readonly tests: readonly Test[]
  readonly wanted: WantedValues | undefined
}

interface Test {
  /** Of the field, in `#fields`. */
  readonly at: number
  readonly matches: FieldTest['matches']
}

/** The values, beginnings and ends of a field of which a subscription wants one. */
interface WantedValues {
  readonly field: string
  readonly wants: readonly Want[]
}

/** `WHOLE`, the length of a beginning, or minus that of an end; then the text, or the whole value. */
type Want = readonly [length: number, text: unknown]

type Bucket = Map<SubscriptionId, Filtered>
/** By length, and text. */
type Buckets = Map<number, Map<unknown, Bucket>>

/** The length of a value that is wanted whole. */
const WHOLE = 0

/**
 * A tenant's subscriptions whose filters name one event type. A subscription that wants certain values, beginnings or ends of a
 * field is found by the event's value, so an event costs as much as the subscriptions that share one with it. The filters
 * of all others are judged for each event.
 */
export class FilteredSubscriptions {
  readonly #eventType: EventType
  /** The fields of all filters. Each is read once per event. */
  readonly #fields: string[] = []
  readonly #all: Bucket = new Map()
  /** By field. */
  readonly #byWanted = new Map<string, Buckets>()
  /** By the text of the filter: those that are alike are judged together. */
  readonly #others = new Map<string, { readonly tests: readonly Test[]; readonly alike: Bucket }>()

  constructor(eventType: EventType) {
    this.#eventType = eventType
  }

  get size(): number {
    return this.#all.size
  }

  /** The subscription must not be present. */
  add(subscription: MatchedSubscription): void {
    const fields = filteredFields(subscription.filter, this.#eventType) ?? {}
    const wanted = this.#wantedOf(fields)
    const tests = compileFilter(fields).map(({ field, matches }) => ({ at: this.#indexOf(field), matches }))
    const filtered = { subscription, tests, wanted }
    this.#all.set(subscription.id, filtered)
    if (wanted === undefined) {
      const create = () => ({ tests, alike: newBucket() })
      getOrCreate(this.#others, JSON.stringify(fields), create).alike.set(subscription.id, filtered)
      return
    }
    const lengths = getOrCreate(this.#byWanted, wanted.field, (): Buckets => new Map())
    for (const [length, text] of wanted.wants) {
      const texts = getOrCreate(lengths, length, () => new Map<unknown, Bucket>())
      getOrCreate(texts, text, newBucket).set(subscription.id, filtered)
    }
  }

  delete(id: SubscriptionId): void {
    const filtered = this.#all.get(id)
    if (filtered === undefined) return
    this.#all.delete(id)
    const { subscription, wanted } = filtered
    if (wanted === undefined) {
      const text = JSON.stringify(filteredFields(subscription.filter, this.#eventType) ?? {})
      const alike = this.#others.get(text)?.alike
      alike?.delete(id)
      if (alike?.size === 0) this.#others.delete(text)
      return
    }
    const lengths = this.#byWanted.get(wanted.field)
    for (const [length, text] of wanted.wants) {
      const texts = lengths?.get(length)
      const bucket = texts?.get(text)
      bucket?.delete(id)
      if (bucket?.size === 0) texts?.delete(text)
      if (texts?.size === 0) lengths?.delete(length)
    }
    if (lengths?.size === 0) this.#byWanted.delete(wanted.field)
  }

  /** @param data undefined: all, whatever their filters want */
  matching(data: EventData | undefined): Iterable<MatchedSubscription> {
    if (data === undefined) return [...this.#all.values()].map(({ subscription }) => subscription)
    // A set, because a value can have several of the beginnings that a subscription wants.
    const found = new Set<MatchedSubscription>()
    const values = this.#fields.map((field) => fieldValue(data, field) ?? null)
    const addPassing = (bucket: Bucket): void => {
      for (const { subscription, tests } of bucket.values()) if (passAll(tests, values)) found.add(subscription)
    }
    for (const { tests, alike } of this.#others.values())
      if (passAll(tests, values)) for (const { subscription } of alike.values()) found.add(subscription)
    for (const [field, lengths] of this.#byWanted) {
      const value = values[this.#indexOf(field)]
      for (const [length, texts] of lengths) {
        const bucket = texts.get(length === WHOLE || typeof value !== 'string' ? value : partOf(value, length))
        if (bucket !== undefined) addPassing(bucket)
      }
    }
    return found
  }

  #indexOf(field: string): number {
    const at = this.#fields.indexOf(field)
    return at >= 0 ? at : this.#fields.push(field) - 1
  }

  /** The field with the values that the fewest other subscriptions want, because an event is checked against all of those. */
  #wantedOf(fields: FilterFields): WantedValues | undefined {
    let best: { readonly wanted: WantedValues; readonly shared: number } | undefined
    for (const [field, conditions] of Object.entries(fields)) {
      const wants = conditions.flatMap(wantsOf)
      if (wants.length < conditions.length) continue
      const lengths = this.#byWanted.get(field)
      const shared = Math.max(...wants.map(([length, text]) => lengths?.get(length)?.get(text)?.size ?? 0))
      if (best === undefined || shared < best.shared) best = { wanted: { field, wants }, shared }
    }
    return best?.wanted
  }
}

function wantsOf(condition: FilterCondition): Want[] {
  if (condition === null || typeof condition !== 'object') return [[WHOLE, condition]]
  if ('prefix' in condition) return [[condition.prefix.length, condition.prefix]]
  if ('suffix' in condition) return [[-condition.suffix.length, condition.suffix]]
  return 'exists' in condition && !condition.exists ? [[WHOLE, null]] : []
}

const newBucket = (): Bucket => new Map()

const partOf = (value: string, length: number): string => (length > 0 ? value.slice(0, length) : value.slice(length))

/** A loop, because fan-out judges thousands of filters per event. */
function passAll(tests: readonly Test[], values: readonly unknown[]): boolean {
  for (const { at, matches } of tests) if (!matches(values[at])) return false
  return true
}
