import { type DeliveryId, deliveryIdOf } from '@switchhook/contracts'
import { recordKey } from '../keys.ts'
import { chunksOf } from '../redis/in-chunks.ts'
import { execute, type Redis } from '../redis/redis.ts'
import { type DeliveryRecord, parseRecord, type StoredRecord } from './delivery-record.ts'

/** Without the body, so that a page of deliveries reads no bodies. */
export type ListedDelivery = Omit<DeliveryRecord, 'body'>

/** Redis, and the process that parses them, serve others in between. */
const RECORDS_AT_ONCE = 250

/** Reads the records of deliveries that fit. One result per entry. */
export async function readListed<Entry extends { readonly deliveryId: DeliveryId }>(
  redis: Redis,
  entries: readonly Entry[],
  fits: (record: StoredRecord, entry: Entry) => boolean = () => true,
): Promise<(ListedDelivery | undefined)[]> {
  const items: (ListedDelivery | undefined)[] = []
  for (const some of chunksOf(entries, RECORDS_AT_ONCE)) {
    const stored = await redis[execute]((commands) =>
      commands.getEach(some.map(({ deliveryId }) => recordKey(deliveryId))),
    )
    for (const [i, entry] of some.entries()) {
      const found = parseRecord(stored[i] ?? '')
      const isListed = found !== undefined && fits(found, entry)
      items.push(isListed ? { deliveryId: entry.deliveryId, ...found.view, attempts: found.attempts } : undefined)
    }
  }
  return items
}

/** A delivery before its first attempt. `url` is that of its subscription, which can still change until then. */
export const pendingDelivery = (
  known: Pick<ListedDelivery, 'subscriptionId' | 'eventId' | 'eventType' | 'tenant' | 'url' | 'firstDueAt'>,
): ListedDelivery => ({
  deliveryId: deliveryIdOf(known.eventId, known.subscriptionId),
  ...known,
  run: 1,
  slot: 0,
  attempt: 0,
  state: 'pending',
  parkedReason: null,
  parkedAt: null,
  nextAttemptAt: null,
  attempts: [],
})
