import type { SubscriptionId } from '@switchhook/contracts'
import { eventKey, eventsKey, logKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import { entryOf } from './event-list.ts'
import { eventJson, type LoggedEvent } from './event-record.ts'
import { pendingIndexing } from './pending-index.ts'

/** How much is remembered of what was fanned out. */
export interface DeliveryLogLimits {
  /** Entries per subscription. */
  readonly size: number
  /** Of an entry: longer than a delivery can wait. */
  readonly retentionMs: number
  /** Events that are listed per tenant; 0: none are. */
  readonly eventListSize: number
  /** Of an event's record and its entry. No longer than that of a delivery that is acknowledged, or such a one would seem to be pending. */
  readonly eventRetentionMs: number
}

/** Which events there were, and which of them were fanned out to a subscription: the list of its deliveries, those that nobody has attempted yet included. */
export interface DeliveryLog {
  /** Repeating it changes nothing but, of an event that was fanned out anew, its record. */
  write(events: readonly LoggedEvent[], nowMs: number): Promise<void>
}

/** What is to be put into one list, the oldest first. */
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
  const { eventListSize: size, eventRetentionMs: retentionMs } = limits
  const lists = new Map<string | null, Addition>()
  for (const event of events) {
    const list = lists.get(event.tenant)
    if (list === undefined) {
      lists.set(event.tenant, { key: eventsKey(event.tenant), size, retentionMs, entries: [entryOf(event)] })
    } else list.entries.push(entryOf(event))
  }
  return lists.values()
}
