import { type DeliveryId, deliveryIdsOf, type EventType, type SubscriptionId, type Tenant } from '@switchhook/contracts'
import { type ListedDelivery, pendingDelivery, readListed } from '../deliveries/listed-delivery.ts'
import { subscriptionsKey } from '../keys.ts'
import { createListCursor, createPageRoom, lowerBound, type Page, type RangeQuery, upperBound } from '../paging.ts'
import { execute, type Redis } from '../redis/redis.ts'
import { parseSubscription } from '../subscriptions/subscription-index.ts'
import { fitsEvent, textsOf } from './event-list.ts'
import type { JournalEntry } from './journal.ts'
import { type JournalReader, microsOf } from './journal-reader.ts'

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
  readonly event: JournalEntry
  readonly subscriptionId: SubscriptionId
}

/** A page searches this many events, and this many of their deliveries, at most. */
const MAX_EVENTS = 5_000
const MAX_DELIVERIES = 1_000
const EVENTS_AT_ONCE = 250

const cursors = createListCursor('d', /^\d{1,16} \d{1,9}$/)

/** The deliveries of a tenant's latest events, in any state, found through the journal. */
export function createTenantLog(
  redis: Redis,
  journal: Pick<JournalReader, 'hasRecords' | 'newestFirst' | 'recent' | 'recipients'>,
) {
  /** @param from the place at which the first event's deliveries begin */
  async function candidatesOf(
    events: readonly JournalEntry[],
    from: ReadPosition | undefined,
    only: SubscriptionId | undefined,
    most: number,
  ): Promise<Candidate[]> {
    const found: Candidate[] = []
    for (const event of events) {
      const since = String(microsOf(event.id))
      const idOf = deliveryIdsOf(event.eventId)
      // An event can have a hundred thousand subscriptions, of which one page needs few.
      const subscriptionIds = (await journal.recipients(event)) ?? event.subscriptionIds
      for (let index = since === from?.since ? from.index : 0; index < subscriptionIds.length; index++) {
        const subscriptionId = subscriptionIds[index] as SubscriptionId
        if (only !== undefined && subscriptionId !== only) continue
        const deliveryId = idOf(subscriptionId)
        found.push({ deliveryId, event, subscriptionId, since, index })
        if (found.length === most) return found
      }
    }
    return found
  }

  async function load(
    tenant: Tenant,
    candidates: readonly Candidate[],
    isRecent: (atMs: number) => boolean,
  ): Promise<(ListedDelivery | undefined)[]> {
    const found = await readListed(redis, candidates)
    const pending = new Set(
      candidates.filter(({ since }, i) => found[i] === undefined && isRecent(Number(since) / 1_000)),
    )
    const ids = [...new Set([...pending].map(({ subscriptionId }) => subscriptionId))]
    const key = subscriptionsKey(tenant)
    const stored = ids.length === 0 ? [] : await redis[execute]((commands) => commands.hmget(key, ...ids))
    const urls = new Map(ids.map((id, i) => [id, stored[i] && parseSubscription(stored[i]).url]))
    return candidates.map((candidate, i) => {
      const { event, subscriptionId } = candidate
      const { eventId, eventType, fannedOutAt } = event
      // Without a url, its subscription was deleted: the delivery is withdrawn as soon as a worker takes it.
      const url = urls.get(subscriptionId)
      if (!pending.has(candidate) || url == null) return found[i]
      return pendingDelivery({ subscriptionId, eventId, eventType, tenant, url, firstDueAt: fannedOutAt })
    })
  }

  return {
    /** By event, the newest first, of events whose finished deliveries still have records. @throws as `EventList` */
    async page(tenant: Tenant, query: TenantLogQuery): Promise<Page<ListedDelivery>> {
      const { limit, cursor, fromMs, toMs, subscriptionId: only, matches } = query
      const texts = textsOf(query)
      const isRecent = await journal.recent(tenant)
      const items: ListedDelivery[] = []
      const add = createPageRoom(limit)
      let hasRoom = true
      let place = cursor === undefined ? undefined : placeOf(cursors.parse(cursor))
      let loaded = 0
      for (let searched = 0; searched < MAX_EVENTS; searched += EVENTS_AT_ONCE) {
        // Inclusive: a page can end between the deliveries of an event.
        const before = place?.since ?? upperBound(undefined, toMs)
        const bounds = { before, from: lowerBound(fromMs), count: EVENTS_AT_ONCE }
        const listed = await journal.newestFirst(tenant, bounds, texts)
        const recent = listed.filter(({ since }) => journal.hasRecords(Number(since) / 1_000))
        const fitting = recent.flatMap(({ entry }) => (entry && fitsEvent(entry, query) ? [entry] : []))
        const all = await candidatesOf(fitting, place, only, MAX_DELIVERIES - loaded + 1)
        const some = all.slice(0, MAX_DELIVERIES - loaded)
        const found = await load(tenant, some, isRecent)
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
        const last = recent.at(-1)
        if (last === undefined || recent.length < EVENTS_AT_ONCE) return { items, nextCursor: null }
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
