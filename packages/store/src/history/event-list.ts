import { type EventId, type EventSubject, type EventType, numberEnding, type Tenant } from '@switchhook/contracts'
import { eventsKey } from '../keys.ts'
import {
  collectPage,
  createTimeCursor,
  isoTime,
  listingOf,
  type Page,
  type RangeQuery,
  type ScoredEntry,
} from '../paging.ts'
import type { Redis } from '../redis/redis.ts'
import { type LoggedEvent, rememberedOf } from './event-record.ts'
import type { JournalReader } from './journal-reader.ts'

export type ListedEvent = Readonly<ReturnType<typeof parseEntry>>

/** Selects the events whose fields equal those of the query. Absent fields match anything. */
export interface EventQuery extends Partial<EventSubject>, RangeQuery {
  /** Matches numbers that end with the same digits (`numberEnding`). */
  readonly number?: string
  readonly eventType?: EventType
}

/** The fields of a query that match only their own value. */
const EQUAL = ['eventType', 'callId', 'agentUri', 'correlationId'] as const

/** Entries contain every field of a query, so scanning 5,000 of them takes the reader only about 20 ms. */
const MAX_SCANNED = 5_000
const MAX_AT_ONCE = 1_000

const cursors = createTimeCursor('e')

export type EventList = ReturnType<typeof createEventList>

/**
 * Reads the events of a tenant from the delivery log, including events without a subscription.
 * @param journal also keeps events in the list, for longer than their records
 */
export function createEventList(redis: Redis, journal?: Pick<JournalReader, 'areJournaled'>) {
  /** Leaves out entries whose event can no longer be read. They stay in the list until the next event is added. */
  async function withRecord(tenant: Tenant, events: readonly ListedEvent[]): Promise<ReadonlySet<ListedEvent>> {
    const ids = events.map(({ eventId }) => eventId)
    const [remembered, isJournaled] = await Promise.all([
      rememberedOf(redis, events),
      journal?.areJournaled(tenant, ids),
    ])
    return new Set(events.filter(({ eventId }, i) => remembered.has(eventId) || isJournaled?.[i] === true))
  }

  return {
    /**
     * The events that can still be read, the newest first. Events that are fanned out later do not shift the pages.
     * @throws AppError `invalid-request` for a cursor that is not from this list
     */
    async page(tenant: Tenant, query: EventQuery): Promise<Page<ListedEvent>> {
      // An entry that matches contains these texts literally, so most other entries are skipped without parsing.
      const asked = EQUAL.map((name) => query[name]).filter((value) => value !== undefined)
      const texts = asked.map((value) => JSON.stringify(value))
      if (query.number !== undefined) texts.push(`${numberEnding(query.number)}"`)
      const listing = listingOf(redis, eventsKey(tenant), cursors, query, MAX_AT_ONCE)
      async function load(entries: readonly ScoredEntry[]) {
        const events = entries.map((entry) => {
          if (!texts.every((text) => entry.member.includes(text))) return undefined
          const event = parseEntry(entry)
          return fitsEvent(event, query) ? event : undefined
        })
        const fitting = events.filter((event) => event !== undefined)
        const readable = await withRecord(tenant, fitting)
        return events.map((event) => (event !== undefined && readable.has(event) ? event : undefined))
      }
      return collectPage(listing, load, MAX_SCANNED)
    },
  }
}

/** The entry of an event. Identical for the same event, so that it is listed once. */
export function entryOf({ eventId, eventType, occurredAt, subject }: LoggedEvent): string {
  const { callId, agentUri, correlationId, number } = subject
  return JSON.stringify([eventId, eventType, occurredAt, callId, agentUri, correlationId, number])
}

type StoredEntry = readonly [
  EventId,
  EventType,
  occurredAt: string,
  callId: string | null,
  agentUri: string | null,
  correlationId: string | null,
  number: string | null,
]

/** Only `entryOf` writes entries, so the JSON is not validated. */
export function parseEntry({ member, since }: ScoredEntry) {
  const stored = JSON.parse(member) as StoredEntry
  const [eventId, eventType, occurredAt, callId, agentUri, correlationId, number] = stored
  /** ISO 8601, UTC, by Redis' clock: shortly after the fan-out. */
  const listedAt = isoTime(since)
  return { eventId, eventType, occurredAt, listedAt, callId, agentUri, correlationId, number }
}

export const fitsEvent = (event: ListedEvent, { number, ...query }: Omit<EventQuery, keyof RangeQuery>): boolean =>
  EQUAL.every((name) => query[name] === undefined || event[name] === query[name]) &&
  (number === undefined || event.number?.endsWith(numberEnding(number)) === true)
