import { type DeliveryId, deliveryIdOf, type EventId, parseEventId, type Tenant } from '@switchhook/contracts'
import { getOrCreate } from '@switchhook/runtime'
import { pendingKey, pendingWindowKey } from '../keys.ts'
import { pipeline, type Redis, run } from '../redis/redis.ts'
import type { LoggedEvent } from './logged-event.ts'

/**
 * Finds the event of a delivery that has no record yet. A delivery's id is a hash of the event's id and the subscription's,
 * so the event cannot be derived from it.
 *
 * Each delivery is an entry of 20 bytes: the last four bytes of its id, then the id of its event. Entries are appended to
 * strings, one per tenant, time window and bucket of ids; a string expires as a whole. Several ids may share their last
 * four bytes, so the reader computes the delivery ids of each event that it finds and compares them.
 */
export const BUCKETS = 1_024
const TAG_BYTES = 4
const ENTRY_BYTES = TAG_BYTES + 16
/** Few, because a reader reads each window. With more windows, entries would outlive the retention by less. */
const WINDOWS_PER_RETENTION = 4

/** @param retentionMs how long a delivery must be found */
export function pendingIndexing(events: readonly LoggedEvent[], retentionMs: number, nowMs: number) {
  const tenants = new Map<Tenant, Map<number, Buffer[]>>()
  for (const { eventId, tenant, subscriptionIds, deliveryIds } of events) {
    const buckets = tenants.get(tenant) ?? new Map<number, Buffer[]>()
    const eventBytes = Buffer.from(eventId.replaceAll('-', ''), 'hex')
    for (const [i, subscriptionId] of subscriptionIds.entries()) {
      const deliveryId = deliveryIds?.[i] ?? deliveryIdOf(eventId, subscriptionId)
      const bucket = bucketOf(deliveryId)
      const entry = Buffer.allocUnsafe(ENTRY_BYTES)
      entry.writeUInt32BE(tagOf(deliveryId))
      eventBytes.copy(entry, TAG_BYTES)
      getOrCreate(buckets, bucket, (): Buffer[] => []).push(entry)
    }
    if (buckets.size > 0) tenants.set(tenant, buckets)
  }
  const windowMs = Math.ceil(retentionMs / WINDOWS_PER_RETENTION)
  const window = Math.floor(nowMs / windowMs)
  return {
    // A string's lifetime starts with its first entry, but the last entry of a window must live for the whole retention.
    shared: [windowMs, windowMs + retentionMs],
    parts: [...tenants].map(([tenant, buckets]) => ({
      keys: [pendingWindowKey(tenant), ...[...buckets.keys()].map((bucket) => pendingKey(tenant, window, bucket))],
      args: [buckets.size, ...[...buckets.values()].map((entries) => Buffer.concat(entries))],
    })),
  }
}

/** The events that the delivery may belong to. More than one only if several ids share their last four bytes. */
export async function pendingEventIds(
  redis: Redis,
  tenant: Tenant,
  deliveryId: DeliveryId,
  nowMs: number,
): Promise<EventId[]> {
  const windowMs = Number(await redis[run]((commands) => commands.get(pendingWindowKey(tenant))))
  if (windowMs === 0) return []
  const present = Math.floor(nowMs / windowMs)
  // One more window at either end, because the writer's clock may differ.
  const windows = Array.from({ length: WINDOWS_PER_RETENTION + 3 }, (_, back) => present + 1 - back)
  const bucket = bucketOf(deliveryId)
  const strings = await pipeline(redis, (commands) =>
    windows.map((window) => commands.getBuffer(pendingKey(tenant, window, bucket))),
  )
  const found = strings.flatMap((entries) => (entries === null ? [] : eventsIn(entries, tagOf(deliveryId))))
  return [...new Set(found)].map(parseEventId)
}

function eventsIn(entries: Buffer, tag: number): string[] {
  const found: string[] = []
  for (let at = 0; at + ENTRY_BYTES <= entries.length; at += ENTRY_BYTES) {
    if (entries.readUInt32BE(at) === tag) found.push(guidOf(entries.toString('hex', at + TAG_BYTES, at + ENTRY_BYTES)))
  }
  return found
}

const bucketOf = (deliveryId: DeliveryId): number => Number.parseInt(deliveryId.slice(0, 8), 16) % BUCKETS

const tagOf = (deliveryId: DeliveryId): number => Number.parseInt(deliveryId.slice(-2 * TAG_BYTES), 16)

const guidOf = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
