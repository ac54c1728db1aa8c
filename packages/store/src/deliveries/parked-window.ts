import type { ParkedReason, SubscriptionId } from '@switchhook/contracts'
import { parkedKey, recordKey } from '../keys.ts'
import { isoTime, scoredEntries } from '../paging.ts'
import { type Redis, run } from '../redis/redis.ts'
import { LEDGER_BYTES, type Ledger, parseLedger, parseRecord } from './delivery-record.ts'
import { isParked, type ParkedEntry, toEntry } from './parked-index.ts'

/** A range of a subscription's parked deliveries, by when they were parked. */
export interface ParkedRange {
  /** In µs since 1970, as text; exclusive. */
  readonly after: string
  /** Likewise; inclusive. */
  readonly until: string
  /** Null: any reason. */
  readonly reason: ParkedReason | null
  /** Absent or null: any type. */
  readonly eventTypes?: readonly string[] | null
  /** Only those that were not sent again before. */
  readonly isFirstRun?: boolean
}

/** The state of a run, as a client sees it. `unknown`: the record is gone, or a later run has begun. */
export type RunState = Ledger['state'] | 'unknown'

const COUNTED_AT_ONCE = 250
const MIN_LOOKED_AT = 50

export type ParkedWindow = ReturnType<typeof createParkedWindow>

/** Reads all parked deliveries of a subscription, the oldest first. For recoveries. Changes nothing. */
export function createParkedWindow(redis: Redis) {
  /** Reads only the ledger if any delivery will do, because the reason and the type are in the view. */
  async function belongs(entry: ParkedEntry, { reason, eventTypes = null, isFirstRun = false }: ParkedRange) {
    if (isFirstRun && entry.run > 1) return false
    const key = recordKey(entry.deliveryId)
    if (reason === null && eventTypes === null) {
      const ledger = parseLedger(await redis[run]((commands) => commands.getrange(key, 0, LEDGER_BYTES - 1)))
      return ledger !== undefined && isParked({ ledger }, entry)
    }
    const found = parseRecord((await redis[run]((commands) => commands.get(key))) ?? '')
    return (
      found !== undefined &&
      isParked(found, entry) &&
      (reason === null || found.view.parkedReason === reason) &&
      (eventTypes === null || eventTypes.includes(found.view.eventType))
    )
  }

  /** A page of the list, and which of its entries are really parked. */
  async function look(subscriptionId: SubscriptionId, range: ParkedRange, size: number) {
    const { after, until } = range
    const reply = await redis[run]((commands) =>
      commands.zrangebyscore(parkedKey(subscriptionId), `(${after}`, until, 'WITHSCORES', 'LIMIT', 0, size),
    )
    const entries = scoredEntries(reply).map(toEntry)
    const isIn = await Promise.all(entries.map((entry) => belongs(entry, range)))
    return { entries, found: entries.filter((_, i) => isIn[i]) }
  }

  return {
    /** When the newest one was parked, in µs; null if there is none. Deliveries parked later are newer. */
    async newest(subscriptionId: SubscriptionId): Promise<string | null> {
      const [, since] = await redis[run]((commands) =>
        commands.zrange(parkedKey(subscriptionId), '0', '0', 'REV', 'WITHSCORES'),
      )
      return since ?? null
    },
    /**
     * At most `limit` deliveries. A bounded number of entries is read, so a short result need not be the last.
     * @returns `after`: that of the next call; null at the end of the range
     */
    async take(subscriptionId: SubscriptionId, range: ParkedRange, limit: number) {
      // Twice the limit, because entries may be stale or parked for another reason.
      const size = Math.max(2 * limit, MIN_LOOKED_AT)
      const { entries, found } = await look(subscriptionId, range, size)
      const taken = found.slice(0, limit)
      const isCut = taken.length < found.length
      const last = isCut ? taken.at(-1) : entries.at(-1)
      return {
        entries: taken.map(({ deliveryId, run: parkedRun }) => ({ deliveryId, run: parkedRun })),
        after: isCut || entries.length === size ? (last?.since ?? null) : null,
      }
    },
    /**
     * Reads every record, which takes seconds for hundreds of thousands.
     * @returns `oldest`, `newest`: when the first and the last of them were parked (ISO 8601, UTC); null if there are none
     */
    async count(subscriptionId: SubscriptionId, range: ParkedRange) {
      let count = 0
      let oldest: string | undefined
      let newest: string | undefined
      for (let after: string | undefined = range.after; after !== undefined; ) {
        const { entries, found } = await look(subscriptionId, { ...range, after }, COUNTED_AT_ONCE)
        count += found.length
        oldest ??= found[0]?.since
        newest = found.at(-1)?.since ?? newest
        after = entries.length === COUNTED_AT_ONCE ? entries.at(-1)?.since : undefined
      }
      return {
        count,
        oldest: oldest === undefined ? null : isoTime(oldest),
        newest: newest === undefined ? null : isoTime(newest),
      }
    },
    /** How many entries were added after `since` (µs). One command; stale entries count too. */
    countAfter: (subscriptionId: SubscriptionId, since: string): Promise<number> =>
      redis[run]((commands) => commands.zcount(parkedKey(subscriptionId), `(${since}`, '+inf')),
    async stateOf({ deliveryId, run: ofRun }: Pick<ParkedEntry, 'deliveryId' | 'run'>): Promise<RunState> {
      const found = parseRecord((await redis[run]((commands) => commands.get(recordKey(deliveryId)))) ?? '')
      if (found?.ledger.run !== ofRun) return 'unknown'
      // Of a held delivery the ledger says that it waits.
      return found.view.state === 'held' ? 'held' : found.ledger.state
    },
  }
}
