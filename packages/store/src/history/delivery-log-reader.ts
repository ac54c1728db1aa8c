import {
  type DeliveryId,
  deliveryIdOf,
  EVENT_TYPES,
  type EventId,
  parseEventId,
  type Subscription,
  type Tenant,
} from '@switchhook/contracts'
import type { DeliveryState } from '../deliveries/delivery-record.ts'
import { type ListedDelivery, pendingDelivery, readListed } from '../deliveries/listed-delivery.ts'
import { eventKey, logKey } from '../keys.ts'
import {
  createListCursor,
  isoTime,
  lowerBound,
  MICROSECONDS,
  newestEntries,
  type Page,
  type RangeQuery,
  scanPage,
  upperBound,
} from '../paging.ts'
import { type Redis, run } from '../redis/redis.ts'
import { type EventRecord, parseEventRecord, rememberedOf } from './event-record.ts'
import { pendingEventIds } from './pending-index.ts'

export interface LogQuery extends RangeQuery {
  /** Absent: any. */
  readonly state?: DeliveryState
  readonly eventType?: string
  readonly eventId?: EventId
  readonly matches?: (delivery: ListedDelivery) => boolean
}

/** Combines the delivery log, which lists the deliveries, with their records, which hold their state. */
export interface DeliveryLogReader {
  /**
   * The newest first. Deliveries that are fanned out later do not shift the pages.
   * @throws AppError `invalid-request` for a cursor that is not from this list
   */
  page(subscription: Subscription, query: LogQuery): Promise<Page<ListedDelivery>>
  event(eventId: EventId): Promise<EventRecord | undefined>
  /**
   * Finds a delivery that may not have a record yet, if its event's record still exists. If the delivery has no record,
   * its first attempt is not over.
   * @param nowMs ms since 1970
   */
  pending(tenant: Tenant, deliveryId: DeliveryId, nowMs: number): Promise<PendingDelivery | undefined>
  /** One result per id. */
  records(deliveryIds: readonly DeliveryId[]): Promise<readonly (ListedDelivery | undefined)[]>
}

/** The fields of a delivery that are known before its first attempt is over. */
export type PendingDelivery = Pick<
  ListedDelivery,
  'deliveryId' | 'subscriptionId' | 'eventId' | 'eventType' | 'tenant' | 'firstDueAt'
>

interface Entry {
  readonly eventId: EventId
  readonly eventType: string
  /** When it was listed, in µs, as Redis formats it; unique within a list. */
  readonly since: string
}

const cursors = createListCursor('l', MICROSECONDS)

export function createDeliveryLogReader(redis: Redis): DeliveryLogReader {
  async function entriesBetween(subscription: Subscription, before: string, from: string, count: number) {
    const found = await newestEntries(redis, logKey(subscription.id), { before, from, count })
    return found.map(({ member, since }) => toEntry(member, since))
  }

  /** Finds the entry of one event directly, if it is within the time range. */
  async function entryOf(subscription: Subscription, eventId: EventId, query: LogQuery): Promise<Entry[]> {
    const members = EVENT_TYPES.map((eventType) => `${eventId}:${eventType}`)
    const scores = await redis[run]((commands) => commands.zmscore(logKey(subscription.id), ...members))
    const { fromMs = -Infinity, toMs = Infinity } = query
    return members.flatMap((member, i) => {
      const atMs = Number(scores[i] ?? Number.NaN) / 1_000
      return atMs >= fromMs && atMs < toMs ? [toEntry(member, scores[i] ?? '')] : []
    })
  }

  const records = (deliveryIds: readonly DeliveryId[]): Promise<(ListedDelivery | undefined)[]> =>
    readListed(
      redis,
      deliveryIds.map((deliveryId) => ({ deliveryId })),
    )

  /**
   * An event's record does not outlive the record of a settled delivery. So while the event has a record, a delivery
   * without one has not been settled yet.
   */
  async function load(subscription: Subscription, entries: readonly Entry[]): Promise<(ListedDelivery | undefined)[]> {
    const found = await records(entries.map(({ eventId }) => deliveryIdOf(eventId, subscription.id)))
    const without = entries.filter((_, i) => found[i] === undefined)
    const remembered = await rememberedOf(
      redis,
      without.map(({ eventId }) => eventId),
    )
    const { id: subscriptionId, tenant, url } = subscription
    return entries.map(({ eventId, eventType, since }, i) => {
      if (found[i] !== undefined || !remembered.has(eventId)) return found[i]
      return pendingDelivery({ subscriptionId, eventId, eventType, tenant, url, firstDueAt: isoTime(since) })
    })
  }

  async function event(eventId: EventId): Promise<EventRecord | undefined> {
    const stored = await redis[run]((commands) => commands.get(eventKey(eventId)))
    return stored === null ? undefined : parseEventRecord(eventId, stored)
  }

  return {
    records,
    event,
    async pending(tenant, deliveryId, nowMs) {
      const eventIds = await pendingEventIds(redis, tenant, deliveryId, nowMs)
      const events = await Promise.all(eventIds.map(event))
      for (const found of events) {
        const subscriptionId = found?.subscriptionIds.find((id) => deliveryIdOf(found.eventId, id) === deliveryId)
        if (found === undefined || subscriptionId === undefined) continue
        const { eventId, eventType, fannedOutAt } = found
        return { deliveryId, subscriptionId, eventId, eventType, tenant: found.tenant, firstDueAt: fannedOutAt }
      }
      return undefined
    },
    async page(subscription, query) {
      const { limit, cursor, fromMs, toMs, state, eventType, eventId, matches = () => true } = query
      const before = upperBound(cursor === undefined ? undefined : cursors.parse(cursor), toMs)
      const fits = (entry: Entry): boolean => eventType === undefined || entry.eventType === eventType
      return scanPage<Entry, ListedDelivery>({
        limit,
        cursors,
        before,
        entriesBefore: (upper, count) =>
          eventId === undefined
            ? entriesBetween(subscription, upper, lowerBound(fromMs), count)
            : entryOf(subscription, eventId, query),
        load: async (entries) => {
          const fitting = entries.filter(fits)
          const loaded = await load(subscription, fitting)
          const byEntry = new Map(fitting.map((entry, i) => [entry, loaded[i]]))
          return entries.map((entry) => {
            const item = byEntry.get(entry)
            if (item === undefined || !matches(item)) return undefined
            return state === undefined || item.state === state ? item : undefined
          })
        },
      })
    },
  }
}

function toEntry(member: string, since: string): Entry {
  const colon = member.indexOf(':')
  return { eventId: parseEventId(member.slice(0, colon)), eventType: member.slice(colon + 1), since }
}
