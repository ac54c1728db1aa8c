import {
  type EventId,
  type EventSubject,
  type EventType,
  eventMarkOf,
  type PlatformEvent,
  type SubscriptionId,
} from '@switchhook/contracts'
import { journalIndexKey, journalKey, recipientsKey } from '../keys.ts'
import { chunksWithin } from '../redis/in-chunks.ts'
import { execute, pipeline, type Redis } from '../redis/redis.ts'

/** An event as fan-out records it, in the journal and in the lists of its deliveries. */
export interface LoggedEvent extends Pick<PlatformEvent, 'eventId' | 'eventType' | 'tenant' | 'occurredAt'> {
  /** ISO 8601, UTC. */
  readonly fannedOutAt: string
  /** The subscriptions that got a delivery. */
  readonly subscriptionIds: readonly SubscriptionId[]
  readonly subject: EventSubject
  /** The event's data, serialised. Absent: the journal does not keep it. */
  readonly dataJson?: string
}

/** How many events the journal keeps per tenant, and for how long. */
export interface JournalLimits {
  /** 0: the events are kept without their data, so that deliveries are still found by them. */
  readonly size: number
  readonly retentionMs: number
  /** DELIVERY_RETENTION, as the workers have it: how long the record of a finished delivery is kept at least. */
  readonly deliveryRetentionMs: number
}

/** Events kept per tenant if none is kept with its data. */
const SIZE_WITHOUT_DATA = 20_000

export const boundsOf = ({ size, retentionMs, deliveryRetentionMs }: JournalLimits) =>
  size > 0
    ? { hasData: true, size, retentionMs }
    : { hasData: false, size: SIZE_WITHOUT_DATA, retentionMs: deliveryRetentionMs }

/** The place of an entry in its journal: its id in the stream, `<ms since 1970>-<µs within>` by Redis' clock. */
export type JournalId = string

/** Of the subscriptions that the event went to, the entry has the first, at most `MAX_SUBSCRIPTIONS`. */
export interface JournalEntry
  extends Pick<LoggedEvent, 'eventId' | 'eventType' | 'occurredAt' | 'fannedOutAt' | 'subscriptionIds' | 'subject'> {
  readonly id: JournalId
  /** The number of all subscriptions that the event went to. */
  readonly subscriptionCount: number
  /** The serialised data of the event; null: it is larger than `MAX_DATA_BYTES`, or no data is kept. */
  readonly dataJson: string | null
}

/** An event of 10 000 deliveries would otherwise need 400 KB in every read of the journal. */
export const MAX_SUBSCRIPTIONS = 100
/** Larger data is not kept, so that the journal of a tenant has a bound in bytes too. */
export const MAX_DATA_BYTES = 16 * 1_024
/** Of one tenant in one call: a longer one would keep other commands of Redis waiting. */
const PART = { count: 500, bytes: 256 * 1_024 }

/** A tenant's events with their data. Lists of events, and of deliveries by event, are read from it. */
export function createJournal(redis: Redis, limits: JournalLimits) {
  const { hasData, size, retentionMs } = boundsOf(limits)

  /** All subscriptions of events that have more than an entry lists, for as long as their deliveries can be pending. */
  const writeRecipients = (events: readonly LoggedEvent[]): Promise<unknown> =>
    pipeline(redis, (commands) =>
      events
        .filter(({ subscriptionIds }) => subscriptionIds.length > MAX_SUBSCRIPTIONS)
        .map(({ eventId, subscriptionIds }) =>
          commands.set(recipientsKey(eventId), JSON.stringify(subscriptionIds), 'PX', limits.deliveryRetentionMs),
        ),
    )

  return {
    /** Can be repeated: an event that is journaled already keeps its place. */
    async append(events: readonly LoggedEvent[]): Promise<void> {
      // First: a reader of an entry finds all of its subscriptions.
      await writeRecipients(events)
      const tenants = Map.groupBy(events, ({ tenant }) => tenant)
      const parts = [...tenants].flatMap(([tenant, some]) => {
        const rows = some.map((event) => rowOf(event, hasData))
        return [...chunksWithin(PART, rows, sizeOf)].map((chunk) => ({
          keys: [journalIndexKey(tenant), journalKey(tenant)],
          args: [size, retentionMs, 'journal', chunk.length, ...chunk.flat()],
        }))
      })
      await redis[execute]((commands) => commands.runParts('history/add-events', parts))
    },
  }
}

function rowOf(event: LoggedEvent, hasData: boolean): readonly [mark: string, entry: string, data: string] {
  const { eventId, eventType, occurredAt, fannedOutAt, subscriptionIds, subject, dataJson = '' } = event
  const { callId, agentUri, correlationId, number = null } = subject
  const about = [eventId, eventType, occurredAt, fannedOutAt, callId, agentUri, correlationId, number]
  const entry = JSON.stringify([...about, subscriptionIds.length, ...subscriptionIds.slice(0, MAX_SUBSCRIPTIONS)])
  return [eventMarkOf(eventId), entry, !hasData || isTooLarge(dataJson) ? '' : dataJson]
}

const sizeOf = ([, entry, data]: ReturnType<typeof rowOf>) => ({ count: 1, bytes: entry.length + data.length })

/** Counts bytes only for texts that may be too large: a character has at most three bytes. */
const isTooLarge = (json: string): boolean =>
  json.length > MAX_DATA_BYTES || (3 * json.length > MAX_DATA_BYTES && Buffer.byteLength(json) > MAX_DATA_BYTES)

type StoredEntry = [
  EventId,
  EventType,
  occurredAt: string,
  fannedOutAt: string,
  callId: string | null,
  agentUri: string | null,
  correlationId: string | null,
  number: string | null,
  count: number,
  ...SubscriptionId[],
]

/** Only `append` writes entries, so the JSON is not validated. */
export function parseEntry([id, [, entry = '[]', , data = '']]: StreamEntry): JournalEntry {
  const stored = JSON.parse(entry) as StoredEntry
  const [eventId, eventType, occurredAt, fannedOutAt, callId, agentUri, correlationId, number, ...to] = stored
  const [subscriptionCount, ...subscriptionIds] = to
  const subject: EventSubject = { callId, agentUri, correlationId, number }
  const dataJson = data === '' ? null : data
  return { id, eventId, eventType, occurredAt, fannedOutAt, subject, subscriptionIds, subscriptionCount, dataJson }
}

/** An entry of the stream, as Redis replies it: `event`, its text, `data`, its data. */
export type StreamEntry = [JournalId, string[]]
