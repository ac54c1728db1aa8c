import { Unavailable } from '@switchhook/contracts'
import { getOrCreate } from '@switchhook/runtime'
import { logKey } from '../keys.ts'
import type { ScriptPart } from '../redis/commands.ts'
import { chunksOf } from '../redis/in-chunks.ts'
import { type Redis, run } from '../redis/redis.ts'
import type { LoggedEvent } from './logged-event.ts'
import { pendingIndexing } from './pending-index.ts'

export interface DeliveryLogLimits {
  /** Entries per subscription. */
  readonly size: number
  /** Of an entry. Must exceed the longest time that a delivery can wait. */
  readonly retentionMs: number
  /** DELIVERY_RETENTION. */
  readonly deliveryRetentionMs: number
}

/** Of one list in one call. Lua passes at most some thousand arguments to a command. */
const MAX_ENTRIES = 500

/** For each subscription the list of its deliveries, including those without an attempt. Fan-out writes it. */
export const createDeliveryLog = (redis: Redis, limits: DeliveryLogLimits) => ({
  /** Can be repeated: an entry keeps its place. */
  async write(events: readonly LoggedEvent[], nowMs: number): Promise<void> {
    const pending = pendingIndexing(events, limits.deliveryRetentionMs, nowMs)
    const lists = redis[run]((commands) => commands.runParts('history/add-events', additionsOf(events, limits)))
    // Last: it alone grows with every repeat, and the rest is repeated for as long as one primary of a cluster is away.
    await lists.catch((error: unknown) => {
      // What Redis refuses is not repeated, and the other parts are written.
      if (error instanceof Unavailable) throw error
    })
    await redis[run]((commands) => commands.runParts('history/index-pending', pending.parts, pending.shared))
    await lists
  },
})

function additionsOf(events: readonly LoggedEvent[], { size, retentionMs }: DeliveryLogLimits): ScriptPart[] {
  const lists = new Map<string, string[]>()
  for (const { eventId, eventType, subscriptionIds } of events) {
    const entry = `${eventId}:${eventType}`
    for (const id of subscriptionIds) getOrCreate(lists, logKey(id), (): string[] => []).push(entry)
  }
  return [...lists].flatMap(([key, entries]) =>
    [...chunksOf(entries, MAX_ENTRIES)].map((some) => ({
      keys: [key],
      args: [size, retentionMs, 0, some.length, ...some],
    })),
  )
}
