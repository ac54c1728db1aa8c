import {
  type DeliveryId,
  deliveryIdOf,
  deliveryIdsOf,
  EVENT_TYPES,
  type EventId,
  parseEventId,
  type Subscription,
  type Tenant,
} from '@switchhook/contracts'
import { type ListedDelivery, pendingDelivery, readListed } from '../deliveries/listed-delivery.ts'
import { logKey } from '../keys.ts'
import {
  collectPage,
  createTimeCursor,
  isoTime,
  newestEntries,
  type Page,
  type RangeQuery,
  type ScoredEntry,
  timeListing,
} from '../paging.ts'
import { execute, type Redis } from '../redis/redis.ts'
import type { JournalReader } from './journal-reader.ts'

export interface LogQuery extends RangeQuery {
  readonly eventType?: string
  readonly eventId?: EventId
  readonly matches?: (delivery: ListedDelivery) => boolean
}

/** The fields of a delivery that are known before its first attempt is over. */
export type PendingDelivery = Pick<
  ListedDelivery,
  'deliveryId' | 'subscriptionId' | 'eventId' | 'eventType' | 'tenant' | 'firstDueAt'
>

type LogEntry = ReturnType<typeof toEntry>

const cursors = createTimeCursor('l')

/** Combines the delivery log, which lists the deliveries, with their records, which hold their state. */
export function createDeliveryLogReader(
  redis: Redis,
  journal: Pick<JournalReader, 'eventOf' | 'recent' | 'recipients'>,
) {
  /** Finds the entry of one event directly, if it is within the time range. */
  async function entryOf(subscription: Subscription, eventId: EventId, query: RangeQuery): Promise<ScoredEntry[]> {
    const members = EVENT_TYPES.map((eventType) => `${eventId}:${eventType}`)
    const scores = await redis[execute]((commands) => commands.zmscore(logKey(subscription.id), ...members))
    const { fromMs = -Infinity, toMs = Infinity } = query
    return members.flatMap((member, i) => {
      const since = scores[i] ?? ''
      const atMs = since === '' ? Number.NaN : Number(since) / 1_000
      return atMs >= fromMs && atMs < toMs ? [{ member, since }] : []
    })
  }

  /** One result per id. */
  const records = (deliveryIds: readonly DeliveryId[]): Promise<(ListedDelivery | undefined)[]> =>
    readListed(
      redis,
      deliveryIds.map((deliveryId) => ({ deliveryId })),
    )

  async function load(subscription: Subscription, entries: readonly LogEntry[]) {
    const { id: subscriptionId, tenant, url } = subscription
    const isRecent = await journal.recent(tenant)
    const found = await records(entries.map(({ eventId }) => deliveryIdOf(eventId, subscription.id)))
    return entries.map(({ eventId, eventType, since }, i) => {
      if (found[i] !== undefined || !isRecent(Number(since) / 1_000)) return found[i]
      return pendingDelivery({ subscriptionId, eventId, eventType, tenant, url, firstDueAt: isoTime(since) })
    })
  }

  return {
    records,
    /** Finds a delivery by its event in the journal. If it has no record, its first attempt is not over. */
    async pending(tenant: Tenant, deliveryId: DeliveryId): Promise<PendingDelivery | undefined> {
      const event = await journal.eventOf(tenant, deliveryId)
      if (event === undefined) return undefined
      const isRecent = await journal.recent(tenant)
      if (!isRecent(Date.parse(event.fannedOutAt))) return undefined
      const { eventId, eventType, fannedOutAt: firstDueAt } = event
      const idOf = deliveryIdsOf(eventId)
      const subscriptionIds = (await journal.recipients(event)) ?? event.subscriptionIds
      const subscriptionId = subscriptionIds.find((id) => idOf(id) === deliveryId)
      return subscriptionId && { deliveryId, subscriptionId, eventId, eventType, tenant, firstDueAt }
    },
    /** The newest first: later ones shift no page. @throws AppError `invalid-request` for another list's cursor */
    async page(subscription: Subscription, query: LogQuery): Promise<Page<ListedDelivery>> {
      const { eventType, eventId, matches = () => true } = query
      const listing = timeListing((part) => newestEntries(redis, logKey(subscription.id), part), cursors, query)
      const only = eventId !== undefined && { entries: [await entryOf(subscription, eventId, query)] }
      return collectPage({ ...listing, ...only }, async (found) => {
        const entries = found.map(toEntry)
        const fitting = entries.filter((entry) => eventType === undefined || entry.eventType === eventType)
        const loaded = await load(subscription, fitting)
        const byEntry = new Map(fitting.map((entry, i) => [entry, loaded[i]]))
        return entries.map((entry) => {
          const item = byEntry.get(entry)
          return item !== undefined && matches(item) ? item : undefined
        })
      })
    },
  }
}

/** @returns `since`: when it was listed, in µs, as Redis formats it; unique within a list */
function toEntry({ member, since }: ScoredEntry) {
  const colon = member.indexOf(':')
  return { eventId: parseEventId(member.slice(0, colon)), eventType: member.slice(colon + 1), since }
}
