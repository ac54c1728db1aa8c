import { getOrCreate } from '@switchhook/runtime'
import { listSizeOf } from '../deliveries/list-size.ts'
import { logKey, subscriptionsKey } from '../keys.ts'
import { chunksOf } from '../redis/in-chunks.ts'
import { execute, pipeline, type Redis } from '../redis/redis.ts'
import type { LoggedEvent } from './journal.ts'

export interface DeliveryLogLimits {
  /** Entries per subscription, fewer if the tenant has many (list-size.ts). */
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
    const tenants = [...Map.groupBy(events, ({ tenant }) => tenant)]
    const counts = await pipeline(redis, (commands) =>
      tenants.map(([tenant]) => commands.hlen(subscriptionsKey(tenant))),
    )
    const parts = tenants.flatMap(([, some], i) => {
      const most = listSizeOf(size, counts[i] ?? 0)
      return [...listsOf(some)].flatMap(([key, entries]) =>
        [...chunksOf(entries, MAX_ENTRIES)].map((added) => ({
          keys: [key],
          args: [most, retentionMs, 'list', added.length, ...added],
        })),
      )
    })
    await redis[execute]((commands) => commands.runParts('history/add-events', parts))
  },
})

/** The new entries of each list. */
function listsOf(events: readonly LoggedEvent[]): ReadonlyMap<string, readonly string[]> {
  const lists = new Map<string, string[]>()
  for (const { eventId, eventType, subscriptionIds } of events) {
    const entry = `${eventId}:${eventType}`
    for (const id of subscriptionIds) getOrCreate(lists, logKey(id), (): string[] => []).push(entry)
  }
  return lists
}
