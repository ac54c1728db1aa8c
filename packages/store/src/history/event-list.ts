import { type EventSubject, type EventType, numberEnding, type Tenant } from '@switchhook/contracts'
import { collectPage, createTimeCursor, isoTime, type Page, type RangeQuery, timeListing } from '../paging.ts'
import type { JournalEntry } from './journal.ts'
import { type JournalReader, microsOf } from './journal-reader.ts'

export type ListedEvent = Readonly<ReturnType<typeof listedEvent>>

/** Selects the events whose fields equal those of the query. Absent fields match anything. */
export interface EventQuery extends Partial<EventSubject>, RangeQuery {
  /** Matches numbers that end with the same digits (`numberEnding`). */
  readonly number?: string
  readonly eventType?: EventType
}

const SUBJECT = ['callId', 'agentUri', 'correlationId'] as const

const MAX_SCANNED = 5_000
/** An entry can have 20 KB. */
const MAX_AT_ONCE = 500

const cursors = createTimeCursor('e')

export type EventList = ReturnType<typeof createEventList>

/** Lists the events of a tenant from the journal, including events without a subscription. */
export const createEventList = (journal: Pick<JournalReader, 'newestFirst'>) => ({
  /** The newest first: later ones shift no page. @throws AppError `invalid-request` for another list's cursor */
  async page(tenant: Tenant, query: EventQuery): Promise<Page<ListedEvent>> {
    const texts = textsOf(query)
    return collectPage(
      timeListing((part) => journal.newestFirst(tenant, part, texts), cursors, query, MAX_AT_ONCE),
      async (some) => some.map(({ entry }) => (entry && fitsEvent(entry, query) ? listedEvent(entry) : undefined)),
      MAX_SCANNED,
    )
  },
})

type Selection = Omit<EventQuery, keyof RangeQuery>

/** Texts that an entry that matches contains literally. */
export function textsOf({ eventType, number, ...query }: Selection): string[] {
  const asked = [eventType, ...SUBJECT.map((name) => query[name])].filter((value) => value != null)
  const ending = number === undefined ? [] : [`${numberEnding(number)}"`]
  return [...asked.map((value) => JSON.stringify(value)), ...ending]
}

export const fitsEvent = ({ eventType, subject }: JournalEntry, { number, ...query }: Selection): boolean =>
  (query.eventType === undefined || eventType === query.eventType) &&
  SUBJECT.every((name) => query[name] === undefined || subject[name] === query[name]) &&
  (number === undefined || subject.number?.endsWith(numberEnding(number)) === true)

function listedEvent({ id, eventId, eventType, occurredAt, subject }: JournalEntry) {
  const { callId, agentUri, correlationId, number = null } = subject
  /** ISO 8601, UTC, by Redis' clock: shortly after the fan-out. */
  const listedAt = isoTime(String(microsOf(id)))
  return { eventId, eventType, occurredAt, listedAt, callId, agentUri, correlationId, number }
}
