import { type Delivery, type DeliveryId, parseDeliveryId, type SubscriptionId } from '@switchhook/contracts'
import { parkedKey } from '../keys.ts'
import {
  createListCursor,
  isoTime,
  lowerBound,
  MICROSECONDS,
  newestEntries,
  type Page,
  type RangeQuery,
  scanPage,
  upperBound,
} from '../paging.ts'
import { type Redis, run, runScript } from '../redis/redis.ts'
import type { StoredRecord } from './delivery-record.ts'
import { type ListedDelivery, readListed } from './listed-delivery.ts'

export interface ParkedQuery extends RangeQuery {
  readonly matches?: (delivery: ListedDelivery) => boolean
}

/** The list of a subscription's parked deliveries. Entries may be stale; a delivery's record decides if it is parked. */
export interface ParkedIndex {
  /** Resolves to the time of the first addition (ISO 8601, UTC). */
  add(delivery: ParkedRun, retentionMs: number): Promise<string>
  remove(delivery: ParkedRun): Promise<void>
  page(subscriptionId: SubscriptionId, query: ParkedQuery): Promise<Page<ListedDelivery>>
}

/** The name of an entry includes the run, so that the end of one run never removes the entry of the next. */
type ParkedRun = Pick<Delivery, 'deliveryId' | 'subscriptionId' | 'run'>

export interface ParkedEntry {
  readonly deliveryId: DeliveryId
  readonly run: number
  /** When it was added, in µs, as Redis formats it; unique within a list. */
  readonly since: string
}

const cursors = createListCursor('', MICROSECONDS)

export function createParkedIndex(redis: Redis): ParkedIndex {
  return {
    async add(delivery, retentionMs) {
      const since = await runScript(
        redis,
        'deliveries/add-parked',
        [parkedKey(delivery.subscriptionId)],
        [member(delivery), retentionMs],
      )
      return isoTime(since)
    },
    async remove(delivery) {
      await redis[run]((commands) => commands.zrem(parkedKey(delivery.subscriptionId), member(delivery)))
    },
    async page(subscriptionId, { limit, cursor, fromMs, toMs, matches = () => true }) {
      return scanPage({
        limit,
        cursors,
        before: upperBound(cursor === undefined ? undefined : cursors.parse(cursor), toMs),
        entriesBefore: async (before, count) => {
          const bounds = { before, from: lowerBound(fromMs), count }
          const found = await newestEntries(redis, parkedKey(subscriptionId), bounds)
          return found.map(({ member: name, since }) => toEntry(name, since))
        },
        load: async (entries) => {
          const records = await readListed(redis, entries, (record, entry) => isParked(record, entry.run))
          return records.map((record) => (record !== undefined && matches(record) ? record : undefined))
        },
      })
    },
  }
}

/** A redelivery that is not known to be published still counts as the parked run before it. */
export function isParked({ ledger }: Pick<StoredRecord, 'ledger'>, listedRun: number): boolean {
  if (ledger.state === 'parked') return ledger.run === listedRun
  return ledger.state === 'unsent' && ledger.run === listedRun + 1
}

const member = ({ deliveryId, run }: ParkedRun): string => `${deliveryId}:${run}`

export function toEntry(name: string, since: string): ParkedEntry {
  const [deliveryId = '', run] = name.split(':')
  return { deliveryId: parseDeliveryId(deliveryId), run: Number(run), since }
}
