import type { SubscriptionId } from '@switchhook/contracts'
import { eventKey, eventsKey, logKey } from '../keys.ts'
import { pipeline, type Redis } from '../redis/redis.ts'
import type { ScriptPart } from '../redis/script-parts.ts'
import { entryOf } from './event-list.ts'
import { eventJson, type LoggedEvent } from './event-record.ts'
import { pendingIndexing } from './pending-index.ts'

/** How many entries the delivery log keeps, and for how long. */
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

/**
 * The list of a tenant's events, and for each subscription the list of its deliveries, including those without an attempt.
 * Fan-out writes it.
 */
export interface DeliveryLog {
  /** Can be repeated. If an event is fanned out again, only its record changes. */
  write(events: readonly LoggedEvent[], nowMs: number): Promise<void>
}

/** Entries to add to one list, the oldest first. */
interface Addition {
  readonly key: string
  readonly size: number
  readonly retentionMs: number
  readonly entries: string[]
}

/** Of one list in one call. Lua passes at most some thousand arguments to a command. */
const MAX_ENTRIES = 500

export function createDeliveryLog(redis: Redis, limits: DeliveryLogLimits): DeliveryLog {
  return {
    async write(events, nowMs) {
      const lists = [...bySubscription(events, limits), ...(limits.eventListSize > 0 ? byTenant(events, limits) : [])]
      const pending = pendingIndexing(events, limits.eventRetentionMs, nowMs)
      const records = events.map((event) => {
        const leftMs = limits.eventRetentionMs - (nowMs - Date.parse(event.fannedOutAt))
        return { keys: [eventKey(event.eventId)], args: [eventJson(event), Math.max(1, leftMs)] }
      })
      await pipeline(redis, (commands) => [
        commands.runParts('history/add-events', lists.flatMap(partsOf)),
        commands.runParts('history/index-pending', pending.parts, pending.shared),
        commands.runParts('history/write-records', records),
      ])
    },
  }
}

function partsOf({ key, size, retentionMs, entries }: Addition): ScriptPart[] {
  const parts = []
  for (let at = 0; at < entries.length; at += MAX_ENTRIES) {
    const some = entries.slice(at, at + MAX_ENTRIES)
    parts.push({ keys: [key], args: [size, retentionMs, some.length, ...some] })
  }
  return parts
}

function bySubscription(events: readonly LoggedEvent[], { size, retentionMs }: DeliveryLogLimits): Iterable<Addition> {
  const lists = new Map<SubscriptionId, Addition>()
  for (const { eventId, eventType, subscriptionIds } of events) {
    const entry = `${eventId}:${eventType}`
    for (const id of subscriptionIds) {
      const list = lists.get(id)
      if (list === undefined) lists.set(id, { key: logKey(id), size, retentionMs, entries: [entry] })
      else list.entries.push(entry)
    }
  }
  return lists.values()
}

function byTenant(events: readonly LoggedEvent[], limits: DeliveryLogLimits): Addition[] {
  const { eventListSize: size, eventRetentionMs, eventListRetentionMs: retentionMs = eventRetentionMs } = limits
  const tenants = Map.groupBy(events, ({ tenant }) => tenant)
  return [...tenants].map(([tenant, some]) => ({
    key: eventsKey(tenant),
    size,
    retentionMs,
    entries: some.map(entryOf),
  }))
}
