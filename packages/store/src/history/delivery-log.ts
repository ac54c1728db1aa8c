import { getOrCreate } from '@switchhook/runtime'
import { logKey } from '../keys.ts'
import { chunksOf } from '../redis/in-chunks.ts'
import { execute, type Redis } from '../redis/redis.ts'
import type { LoggedEvent } from './journal.ts'

export interface DeliveryLogLimits {
  /** Entries per subscription. */
  readonly size: number
  /** Of an entry. Must exceed the longest time that a delivery can wait. */
  readonly retentionMs: number
}

/** Of one list in one call. Lua passes at most some thousand arguments to a command. */
const MAX_ENTRIES = 500

/** For each subscription the list of its deliveries, including those without an attempt. Fan-out writes it. */
export const createDeliveryLog = (redis: Redis, { size, retentionMs }: DeliveryLogLimits) => ({
  /** Can be repeated: an entry keeps its place. */
  async write(events: readonly LoggedEvent[]): Promise<void> {
    const lists = new Map<string, string[]>()
    for (const { eventId, eventType, subscriptionIds } of events) {
      const entry = `${eventId}:${eventType}`
      for (const id of subscriptionIds) getOrCreate(lists, logKey(id), (): string[] => []).push(entry)
    }
    const parts = [...lists].flatMap(([key, entries]) =>
      [...chunksOf(entries, MAX_ENTRIES)].map((some) => ({
        keys: [key],
        args: [size, retentionMs, 0, some.length, ...some],
      })),
    )
    await redis[execute]((commands) => commands.runParts('history/add-events', parts))
  },
})
