import type { EventId, EventType, SubscriptionId } from '@switchhook/contracts'
import { journalIndexKey, journalKey } from '../keys.ts'
import { chunksWithin } from '../redis/in-chunks.ts'
import { type Redis, run } from '../redis/redis.ts'
import type { EventRecord, LoggedEvent } from './event-record.ts'

/** How many events the journal keeps per tenant, and for how long. */
export interface JournalLimits {
  /** 0: nothing is journaled. */
  readonly size: number
  readonly retentionMs: number
}

/**
 * The place of an entry in its tenant's journal: the id of the stream entry, `<ms since 1970>-<µs within>` by Redis'
 * clock, unique and rising.
 */
export type JournalId = string

/** Of the subscriptions that the event went to, the entry has the first, at most `MAX_SUBSCRIPTIONS`. */
export interface JournalEntry extends Omit<EventRecord, 'tenant'> {
  readonly id: JournalId
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
const PART = { count: 500, bytes: 256 * 1_024 }

/** The record of a tenant's events with their data, in the order in which fan-out wrote them. Fan-out writes it. */
export const createJournal = (redis: Redis, { size, retentionMs }: JournalLimits) => ({
  /** Can be repeated: an event that is journaled already keeps its place. Events without `dataJson` are left out. */
  async append(events: readonly LoggedEvent[]): Promise<void> {
    if (size === 0) return
    const journaled = events.filter(({ dataJson }) => dataJson !== undefined)
    const tenants = Map.groupBy(journaled, ({ tenant }) => tenant)
    const parts = [...tenants].flatMap(([tenant, some]) =>
      [...chunksWithin(PART, some.map(rowOf), sizeOf)].map((rows) => ({
        keys: [journalIndexKey(tenant), journalKey(tenant)],
        args: [size, retentionMs, 1, rows.length, ...rows.flat()],
      })),
    )
    if (parts.length === 0) return
    await redis[run]((commands) => commands.runParts('history/add-events', parts))
  },
})

function rowOf(event: LoggedEvent): readonly [eventId: string, entry: string, data: string] {
  const { eventId, eventType, occurredAt, fannedOutAt, subscriptionIds, dataJson = '' } = event
  const listed = subscriptionIds.slice(0, MAX_SUBSCRIPTIONS)
  const entry = JSON.stringify([eventId, eventType, occurredAt, fannedOutAt, subscriptionIds.length, ...listed])
  return [eventId, entry, isTooLarge(dataJson) ? '' : dataJson]
}

const sizeOf = ([, entry, data]: ReturnType<typeof rowOf>) => ({ count: 1, bytes: entry.length + data.length })

/** Counts bytes only for texts that may be too large: a character has at most three bytes. */
const isTooLarge = (json: string): boolean =>
  json.length > MAX_DATA_BYTES || (3 * json.length > MAX_DATA_BYTES && Buffer.byteLength(json) > MAX_DATA_BYTES)

type StoredEntry = [EventId, EventType, occurredAt: string, fannedOutAt: string, count: number, ...SubscriptionId[]]

/** Only `append` writes entries, so the JSON is not validated. */
export function parseEntry([id, [, entry = '[]', , data = '']]: [JournalId, string[]]): JournalEntry {
  const stored = JSON.parse(entry) as StoredEntry
  const [eventId, eventType, occurredAt, fannedOutAt, subscriptionCount, ...subscriptionIds] = stored
  const dataJson = data === '' ? null : data
  return { id, eventId, eventType, occurredAt, fannedOutAt, subscriptionIds, subscriptionCount, dataJson }
}
