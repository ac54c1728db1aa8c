import type { SubscriptionId } from '@switchhook/contracts'
import { eventKey, eventsKey, logKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
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

export function createDeliveryLog(redis: Redis, limits: DeliveryLogLimits): DeliveryLog {
  return {
    async write(events, nowMs) {
      const additions = [
        ...bySubscription(events, limits),
        ...(limits.eventListSize > 0 ? byTenant(events, limits) : []),
      ]
      await redis[run]((commands) =>
        Promise.all([
          ...additions.map(({ key, size, retentionMs, entries }) =>
            commands.runScript('delivery-log/add-events', [key], [size, retentionMs, ...entries]),
          ),
          ...pendingIndexing(events, limits.eventRetentionMs, nowMs).map(({ keys, args }) =>
            commands.runScript('delivery-log/index-pending', keys, args),
          ),
          ...events.map((event) => {
            const leftMs = limits.eventRetentionMs - (nowMs - Date.parse(event.fannedOutAt))
            return commands.set(eventKey(event.eventId), eventJson(event), 'PX', Math.max(1, leftMs))
          }),
        ]),
      )
    },
  }
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

function byTenant(events: readonly LoggedEvent[], limits: DeliveryLogLimits): Iterable<Addition> {
  const { eventListSize: size, eventRetentionMs, eventListRetentionMs: retentionMs = eventRetentionMs } = limits
  const lists = new Map<string | null, Addition>()
  for (const event of events) {
    const list = lists.get(event.tenant)
    if (list === undefined) {
      lists.set(event.tenant, { key: eventsKey(event.tenant), size, retentionMs, entries: [entryOf(event)] })
    } else list.entries.push(entryOf(event))
  }
  return lists.values()
}
