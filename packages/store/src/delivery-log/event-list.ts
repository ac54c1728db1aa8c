import { type EventId, type EventSubject, type EventType } from '@switchhook/contracts'
import { eventsKey } from '../keys.ts'
import { createListCursor, MICROSECONDS } from '../list-cursor.ts'
import { newestEntries } from '../newest-entries.ts'
import type { Redis } from '../redis/redis.ts'
import { lowerBound, scanPage, upperBound } from '../scan-page.ts'
import type { LoggedEvent } from './event-record.ts'
import { areRemembered } from './remembered-events.ts'

interface ListedEvent extends EventSubject {
  readonly eventId: EventId
  readonly eventType: EventType
  /** ISO 8601, UTC, as is the other time. */
  readonly occurredAt: string
  /** By Redis' clock, soon after it was fanned out. */
  readonly listedAt: string
}

/** Which events of a tenant are asked for: those that are exactly so; what is absent does not matter. */
export interface EventQuery extends Partial<EventSubject> {
  readonly limit: number
  readonly cursor?: string
  /** When it was listed, in ms since 1970: from then on, and before then. */
  readonly fromMs?: number
  readonly toMs?: number
  readonly eventType?: EventType
}

interface EventPage {
  readonly items: readonly ListedEvent[]
  /** For the next page, which may be empty; null on the last. */
  readonly nextCursor: string | null
}

/** The events of a tenant, whether anybody subscribed to them or not, as the delivery log has written them. */
export interface EventList {
  /**
   * Those that are still remembered, the newest first; what is fanned out while somebody pages shifts no page.
   * @throws AppError `invalid-request` for a cursor that this list has not given
   */
  page(tenant: string | null, query: EventQuery): Promise<EventPage>
}

/** Entries say all that is asked of them, so many can be looked through: in some 20 ms of the reader's time. */
const EFFORT = { mostScanned: 5_000, mostAtOnce: 1_000 }

const cursors = createListCursor('e', MICROSECONDS)

export function createEventList(redis: Redis): EventList {
  /** A list is trimmed when something is added to it: what is older in it has no record any more, and could not be explained. */
  async function withRecord(events: readonly ListedEvent[]): Promise<ReadonlySet<ListedEvent>> {
    const isRemembered = await areRemembered(
      redis,
      events.map(({ eventId }) => eventId),
    )
    return new Set(events.filter((_, i) => isRemembered[i]))
  }

  return {
    async page(tenant, { limit, cursor, fromMs, toMs, ...wanted }) {
      // What is asked for stands in an entry as it was written: most need not be parsed to be passed over.
      const texts = Object.values(wanted).map((value) => JSON.stringify(value))
      const { items, end } = await scanPage({
        ...EFFORT,
        limit,
        before: upperBound(cursor === undefined ? undefined : cursors.parse(cursor), toMs),
        entriesBefore: (before, count) =>
          newestEntries(redis, eventsKey(tenant), { before, from: lowerBound(fromMs), count }),
        load: async (entries) => {
          const events = entries.map(({ member, since }) => {
            if (!texts.every((text) => member.includes(text))) return undefined
            const event = parseEntry(member, since)
            return fits(event, wanted) ? event : undefined
          })
          const remembered = await withRecord(events.filter((event) => event !== undefined))
          return events.map((event) => (event !== undefined && remembered.has(event) ? event : undefined))
        },
      })
      return { items, nextCursor: end === undefined ? null : cursors.of(end) }
    },
  }
}

/** The same for the same event, so that it is listed once. */
export function entryOf({ eventId, eventType, occurredAt, subject }: LoggedEvent): string {
  const { callId, agentUri, correlationId } = subject
  return JSON.stringify([eventId, eventType, occurredAt, callId, agentUri, correlationId])
}

/** Written by `entryOf` alone, so its shape is known. */
function parseEntry(entry: string, since: string): ListedEvent {
  const [eventId, eventType, occurredAt, callId, agentUri, correlationId] = JSON.parse(entry) as [
    EventId,
    EventType,
    string,
    string | null,
    string | null,
    string | null,
  ]
  const listedAt = new Date(Math.floor(Number(since) / 1_000)).toISOString()
  return { eventId, eventType, occurredAt, listedAt, callId, agentUri, correlationId }
}

const fits = (event: ListedEvent, { eventType, callId, agentUri, correlationId }: Omit<EventQuery, 'limit'>): boolean =>
  (eventType === undefined || event.eventType === eventType) &&
  (callId === undefined || event.callId === callId) &&
  (agentUri === undefined || event.agentUri === agentUri) &&
  (correlationId === undefined || event.correlationId === correlationId)
