import type { SubscriptionId } from '@switchhook/contracts'
import { type EventRecord, eventJson } from './event-record.ts'
import { eventKey, logKey } from './keys.ts'
import { type Redis, run } from './redis.ts'

/** How much is remembered of what was fanned out. */
export interface DeliveryLogLimits {
  /** Entries per subscription. */
  readonly size: number
  /** Of an entry: longer than a delivery can wait. */
  readonly retentionMs: number
  /** Of an event's record. No longer than that of a delivery that is acknowledged, or such a one would seem to be pending. */
  readonly eventRetentionMs: number
}

/** Which events were fanned out to a subscription: the list of its deliveries, those that nobody has attempted yet included. */
export interface DeliveryLog {
  /** Repeating it changes nothing but, of an event that was fanned out anew, its record. */
  write(events: readonly EventRecord[], nowMs: number): Promise<void>
}

export function createDeliveryLog(redis: Redis, limits: DeliveryLogLimits): DeliveryLog {
  return {
    async write(events, nowMs) {
      const logs = membersBySubscription(events)
      await redis[run]((commands) =>
        Promise.all([
          ...[...logs].map(([subscriptionId, members]) =>
            commands.runScript(
              'log-deliveries',
              [logKey(subscriptionId)],
              [limits.size, limits.retentionMs, ...members],
            ),
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

function membersBySubscription(events: readonly EventRecord[]): ReadonlyMap<SubscriptionId, readonly string[]> {
  const logs = new Map<SubscriptionId, string[]>()
  for (const { eventId, eventType, subscriptionIds } of events) {
    for (const subscriptionId of subscriptionIds) {
      const members = logs.get(subscriptionId)
      if (members === undefined) logs.set(subscriptionId, [`${eventId}:${eventType}`])
      else members.push(`${eventId}:${eventType}`)
    }
  }
  return logs
}
