import { type DeliveryId, deliveryIdOf, type EventType, type SubscriptionId, type Tenant } from '@switchhook/contracts'
import { type ListedDelivery, pendingDelivery, readListed } from '../deliveries/listed-delivery.ts'
import { eventKey, eventsKey, subscriptionsKey } from '../keys.ts'
import {
  createListCursor,
  createPageRoom,
  lowerBound,
  newestEntries,
  type Page,
  type RangeQuery,
  upperBound,
} from '../paging.ts'
import { pipeline, type Redis, run } from '../redis/redis.ts'
import { parseSubscription } from '../subscriptions/stored-subscription.ts'
import { fitsEvent, type ListedEvent, parseEntry } from './event-list.ts'
import { parseEventRecord } from './event-record.ts'

export interface TenantLogQuery extends RangeQuery {
  readonly eventType?: EventType
  readonly callId?: string
  readonly agentUri?: string
  /** Absent: every subscription. */
  readonly subscriptionId?: SubscriptionId
  readonly matches: (delivery: ListedDelivery) => boolean
}

/** The place of a delivery: when its event was listed, in µs, and its position among the event's subscriptions. */
interface ReadPosition {
  readonly since: string
  readonly index: number
}

interface Candidate extends ReadPosition {
  readonly deliveryId: DeliveryId
  readonly event: ListedEvent
  readonly fannedOutAt: string
  readonly subscriptionId: SubscriptionId
}

/** A page searches this many events, and this many of their deliveries, at most. */
const MAX_EVENTS = 5_000
const MAX_DELIVERIES = 1_000
const EVENTS_AT_ONCE = 250
/** Records of events that are read at first, … */
const RECORDS_AT_FIRST = 8
/** … and the length of those that are read together later. The record of an event with 100 000 subscriptions has 4 MB. */
const RECORDS_LENGTH_AT_ONCE = 1_000_000

const cursors = createListCursor('d', /^\d{1,16} \d{1,9}$/)

/** The deliveries of a tenant's latest events, in any state, found through the list of events. */
export function createTenantLog(redis: Redis) {
  /** @param from the place at which the first event's deliveries begin */
  async function candidatesOf(
    events: readonly { readonly event: ListedEvent; readonly since: string }[],
    from: ReadPosition | undefined,
    only: SubscriptionId | undefined,
    most: number,
  ): Promise<Candidate[]> {
    const found: Candidate[] = []
    let atOnce = RECORDS_AT_FIRST
    for (let at = 0; at < events.length; ) {
      const some = events.slice(at, at + atOnce)
      const stored = await pipeline(redis, (commands) => some.map(({ event }) => commands.get(eventKey(event.eventId))))
      for (const [i, { event, since }] of some.entries()) {
        const json = stored[i]
        if (json == null) continue
        const { fannedOutAt, subscriptionIds } = parseEventRecord(event.eventId, json)
        // An event can have a hundred thousand subscriptions, of which one page needs few.
        for (let index = since === from?.since ? from.index : 0; index < subscriptionIds.length; index++) {
          const subscriptionId = subscriptionIds[index] as SubscriptionId
          if (only !== undefined && subscriptionId !== only) continue
          const deliveryId = deliveryIdOf(event.eventId, subscriptionId)
          found.push({ deliveryId, event, fannedOutAt, subscriptionId, since, index })
          if (found.length === most) return found
        }
      }
      at += some.length
      const length = stored.reduce((sum, json) => sum + (json?.length ?? 0), 0)
      atOnce = Math.max(1, Math.floor((RECORDS_LENGTH_AT_ONCE * some.length) / Math.max(1, length)))
    }
    return found
  }

  async function load(tenant: Tenant, candidates: readonly Candidate[]): Promise<(ListedDelivery | undefined)[]> {
    const found = await readListed(redis, candidates)
    const withoutRecord = candidates.filter((_, i) => found[i] === undefined)
    const ids = [...new Set(withoutRecord.map(({ subscriptionId }) => subscriptionId))]
    const key = subscriptionsKey(tenant)
    const stored = ids.length === 0 ? [] : await redis[run]((commands) => commands.hmget(key, ...ids))
    const urls = new Map(ids.map((id, i) => [id, stored[i] && parseSubscription(stored[i]).url]))
    return candidates.map(({ event: { eventId, eventType }, subscriptionId, fannedOutAt }, i) => {
      // Without a url, its subscription was deleted: the delivery is withdrawn as soon as a worker takes it.
      const url = urls.get(subscriptionId)
      if (found[i] !== undefined || url == null) return found[i]
      return pendingDelivery({ subscriptionId, eventId, eventType, tenant, url, firstDueAt: fannedOutAt })
    })
  }

  return {
    /**
     * By event, the newest first. Events that are fanned out later do not shift the pages.
     * @throws AppError `invalid-request` for a cursor that is not from this list
     */
    async page(tenant: Tenant, query: TenantLogQuery): Promise<Page<ListedDelivery>> {
      const { limit, cursor, fromMs, toMs, subscriptionId: only, matches } = query
      const items: ListedDelivery[] = []
      const add = createPageRoom(limit)
      let hasRoom = true
      let place = cursor === undefined ? undefined : placeOf(cursors.parse(cursor))
      let loaded = 0
      for (let searched = 0; searched < MAX_EVENTS; searched += EVENTS_AT_ONCE) {
        // Inclusive: a page can end between the deliveries of an event.
        const before = place?.since ?? upperBound(undefined, toMs)
        const bounds = { before, from: lowerBound(fromMs), count: EVENTS_AT_ONCE }
        const entries = await newestEntries(redis, eventsKey(tenant), bounds)
        const listed = entries.map((entry) => ({ event: parseEntry(entry), since: entry.since }))
        const fitting = listed.filter(({ event }) => fitsEvent(event, query))
        const all = await candidatesOf(fitting, place, only, MAX_DELIVERIES - loaded + 1)
        const some = all.slice(0, MAX_DELIVERIES - loaded)
        const found = await load(tenant, some)
        for (const [i, candidate] of some.entries()) {
          const item = found[i]
          if (item === undefined || !matches(item)) continue
          if (!hasRoom) return { items, nextCursor: cursorOf(candidate) }
          items.push(item)
          hasRoom = add(item)
        }
        loaded += some.length
        const next = all[some.length]
        if (next !== undefined) return { items, nextCursor: cursorOf(next) }
        const last = entries.at(-1)
        if (last === undefined || entries.length < EVENTS_AT_ONCE) return { items, nextCursor: null }
        // After all loaded deliveries of the oldest event that was read.
        const lastLoaded = all.at(-1)
        place = { since: last.since, index: lastLoaded?.since === last.since ? lastLoaded.index + 1 : 0 }
      }
      return { items, nextCursor: place === undefined ? null : cursorOf(place) }
    },
  }
}

const cursorOf = ({ since, index }: ReadPosition): string => cursors.of(`${since} ${index}`)

function placeOf(place: string): ReadPosition {
  const [since = '', index] = place.split(' ')
  return { since, index: Number(index) }
}
