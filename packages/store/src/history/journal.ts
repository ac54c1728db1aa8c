import type { EventId, EventType, SubscriptionId } from '@switchhook/contracts'
import { journalIndexKey, journalKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import type { LoggedEvent } from './event-record.ts'

/** How many events the journal keeps per tenant, and for how long. */
export interface JournalLimits {
  /** 0: nothing is journaled. */
  readonly size: number
  readonly retentionMs: number
}

/** The record of a tenant's events with their data, in the order in which fan-out wrote them. Fan-out writes it. */
export interface Journal {
  /** Can be repeated: an event that is journaled already keeps its place. Events without `dataJson` are left out. */
  readonly append: (events: readonly LoggedEvent[]) => Promise<void>
}

/**
 * The place of an entry in its tenant's journal: the id of the stream entry, `<ms since 1970>-<µs within>` by Redis'
 * clock, unique and rising.
 */
export type JournalId = string

/** One event of the journal. */
export interface JournalEntry {
  readonly id: JournalId
  readonly eventId: EventId
  readonly eventType: EventType
  /** ISO 8601, UTC, like `fannedOutAt`. */
  readonly occurredAt: string
  readonly fannedOutAt: string
  /** The first of the subscriptions that the event went to, at most `MAX_SUBSCRIPTIONS`. */
  readonly subscriptionIds: readonly SubscriptionId[]
  /** The number of all subscriptions that the event went to. */
  readonly subscriptionCount: number
  /** The serialised data of the event; null: it is larger than `MAX_DATA_BYTES`. */
  readonly dataJson: string | null
}

/** An event of 10 000 deliveries would otherwise need 400 KB. */
export const MAX_SUBSCRIPTIONS = 100
/** Larger data is not kept, so that the journal of a tenant has a bound in bytes too. */
export const MAX_DATA_BYTES = 16 * 1_024
/** Of one tenant in one call: a longer one would keep other commands of Redis waiting. */
const MAX_PART_BYTES = 256 * 1_024
const MAX_PART_EVENTS = 500

export function createJournal(redis: Redis, { size, retentionMs }: JournalLimits): Journal {
  return {
    async append(events) {
      if (size === 0) return
      const tenants = Map.groupBy(events.filter(hasData), ({ tenant }) => tenant)
      const parts = [...tenants].flatMap(([tenant, some]) =>
        [...inChunks(some.map(rowOf))].map((chunk) => ({
          keys: [journalKey(tenant), journalIndexKey(tenant)],
          args: [chunk.length, ...chunk.flat()],
        })),
      )
      if (parts.length === 0) return
      await redis[run]((commands) => commands.runParts('history/append-events', parts, [size, retentionMs]))
    },
  }
}

/** The arguments of one event: its id, its entry, its data. */
type Row = readonly [eventId: string, entry: string, data: string]

type JournaledEvent = LoggedEvent & { readonly dataJson: string }

const hasData = (event: LoggedEvent): event is JournaledEvent => event.dataJson !== undefined

const rowOf = (event: JournaledEvent): Row => [
  event.eventId,
  entryOf(event),
  isTooLarge(event.dataJson) ? '' : event.dataJson,
]

function* inChunks(rows: readonly Row[]): Generator<readonly Row[]> {
  let chunk: Row[] = []
  let length = 0
  for (const row of rows) {
    const rowLength = row[1].length + row[2].length
    if (chunk.length === MAX_PART_EVENTS || (chunk.length > 0 && length + rowLength > MAX_PART_BYTES)) {
      yield chunk
      chunk = []
      length = 0
    }
    chunk.push(row)
    length += rowLength
  }
  if (chunk.length > 0) yield chunk
}

/** Counts bytes only for texts that may be too large: a character has at most three bytes. */
const isTooLarge = (json: string): boolean =>
  json.length > MAX_DATA_BYTES || (3 * json.length > MAX_DATA_BYTES && Buffer.byteLength(json) > MAX_DATA_BYTES)

function entryOf({ eventId, eventType, occurredAt, fannedOutAt, subscriptionIds }: LoggedEvent): string {
  const listed = subscriptionIds.slice(0, MAX_SUBSCRIPTIONS)
  return JSON.stringify([eventId, eventType, occurredAt, fannedOutAt, subscriptionIds.length, ...listed])
}

/** Only `append` writes entries, so the JSON is not validated. */
export function parseEntry(id: JournalId, fields: readonly string[]): JournalEntry {
  const [, entry = '[]', , data = ''] = fields
  const [eventId, eventType, occurredAt, fannedOutAt, subscriptionCount, ...subscriptionIds] = JSON.parse(entry) as [
    EventId,
    EventType,
    string,
    string,
    number,
    ...SubscriptionId[],
  ]
  const dataJson = data === '' ? null : data
  return { id, eventId, eventType, occurredAt, fannedOutAt, subscriptionIds, subscriptionCount, dataJson }
}
