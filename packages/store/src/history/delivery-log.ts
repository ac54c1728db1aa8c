import { Unavailable } from '@switchhook/contracts'
import { getOrCreate } from '@switchhook/runtime'
import { eventKey, eventsKey, logKey } from '../keys.ts'
import type { ScriptPart } from '../redis/commands.ts'
import { chunksOf } from '../redis/in-chunks.ts'
import { pipeline, type Redis, run } from '../redis/redis.ts'
import { entryOf } from './event-list.ts'
import { eventJson, type LoggedEvent } from './event-record.ts'
import { pendingIndexing } from './pending-index.ts'

export interface DeliveryLogLimits {
  /** Entries per subscription. */
  readonly size: number
  /** Of an entry. Must exceed the longest time that a delivery can wait. */
  readonly retentionMs: number
  /** Events listed per tenant. 0 turns the list off. */
  readonly eventListSize: number
  /**
   * Of an event's record. Must not exceed the retention of acknowledged deliveries: otherwise a delivery
   * whose record has expired would seem to be pending.
   */
  readonly eventRetentionMs: number
  /** Of an event's list entry. Absent: `eventRetentionMs`. The list shows an entry only while the event can be read. */
  readonly eventListRetentionMs?: number
}

/** Of one list in one call. Lua passes at most some thousand arguments to a command. */
const MAX_ENTRIES = 500

/**
 * The list of a tenant's events, and for each subscription the list of its deliveries, including those without an attempt.
 * Fan-out writes it.
 */
export const createDeliveryLog = (redis: Redis, limits: DeliveryLogLimits) => ({
  /** Can be repeated. If an event is fanned out again, only its record changes. */
  async write(events: readonly LoggedEvent[], nowMs: number): Promise<void> {
    const pending = pendingIndexing(events, limits.eventRetentionMs, nowMs)
    const records = events.map((event) => {
      const leftMs = limits.eventRetentionMs - (nowMs - Date.parse(event.fannedOutAt))
      return { keys: [eventKey(event.eventId)], args: [eventJson(event), Math.max(1, leftMs)] }
    })
    const additions = additionsOf(events, limits)
    const rest = pipeline(redis, (commands) => [
      commands.runParts('history/add-events', additions),
      commands.runParts('history/write-records', records),
    ])
    // Last: it alone grows with every repeat, and the rest is repeated for as long as one primary of a cluster is away.
    await rest.catch((error: unknown) => {
      // What Redis refuses is not repeated, and the other parts are written.
      if (error instanceof Unavailable) throw error
    })
    await redis[run]((commands) => commands.runParts('history/index-pending', pending.parts, pending.shared))
    await rest
  },
})

function additionsOf(events: readonly LoggedEvent[], limits: DeliveryLogLimits): ScriptPart[] {
  const { size, retentionMs, eventListSize, eventRetentionMs, eventListRetentionMs = eventRetentionMs } = limits
  const lists = new Map<string, { readonly bounds: readonly [size: number, retentionMs: number]; entries: string[] }>()
  const add = (key: string, entry: string, ...bounds: [size: number, retentionMs: number]): void =>
    void getOrCreate(lists, key, () => ({ bounds, entries: [] })).entries.push(entry)
  for (const { eventId, eventType, subscriptionIds } of events) {
    for (const id of subscriptionIds) add(logKey(id), `${eventId}:${eventType}`, size, retentionMs)
  }
  if (eventListSize > 0) {
    for (const event of events) add(eventsKey(event.tenant), entryOf(event), eventListSize, eventListRetentionMs)
  }
  return [...lists].flatMap(([key, { bounds, entries }]) =>
    [...chunksOf(entries, MAX_ENTRIES)].map((some) => ({ keys: [key], args: [...bounds, 0, some.length, ...some] })),
  )
}
