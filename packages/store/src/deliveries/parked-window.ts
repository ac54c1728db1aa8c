import type { ParkedReason, SubscriptionId } from '@switchhook/contracts'
import { parkedKey, recordKey } from '../keys.ts'
import { scoredEntries } from '../paging.ts'
import { execute, type Redis } from '../redis/redis.ts'
import { LEDGER_BYTES, parseLedger, parseRecord } from './delivery-record.ts'
import { isParked, type ParkedEntry, toEntry } from './parked-list.ts'

/** A range of a subscription's parked deliveries, by when they were parked. */
export interface ParkedRange {
  /** In µs since 1970, as text; exclusive. */
  readonly after: string
  /** Likewise; inclusive. */
  readonly until: string
  /** Null: any reason. */
  readonly reason: ParkedReason | null
  /** Null: any type. */
  readonly eventTypes: readonly string[] | null
  /** Only those that were not sent again before. */
  readonly isFirstRun: boolean
}

export type ParkedWindow = ReturnType<typeof createParkedWindow>

/** Reads all parked deliveries of a subscription, the oldest first. For recoveries. Changes nothing. */
export function createParkedWindow(redis: Redis) {
  /** Reads only the ledger if any delivery will do, because the reason and the type are in the view. */
  async function belongs(entry: ParkedEntry, { reason, eventTypes, isFirstRun }: ParkedRange) {
    if (isFirstRun && entry.run > 1) return false
    const key = recordKey(entry.deliveryId)
    if (reason === null && eventTypes === null) {
      const ledger = parseLedger(await redis[execute]((commands) => commands.getrange(key, 0, LEDGER_BYTES - 1)))
      return ledger !== undefined && isParked({ ledger }, entry)
    }
    const found = parseRecord((await redis[execute]((commands) => commands.get(key))) ?? '')
    return (
      found !== undefined &&
      isParked(found, entry) &&
      (reason === null || found.view.parkedReason === reason) &&
      (eventTypes === null || eventTypes.includes(found.view.eventType))
    )
  }

  return {
    /** When the newest one was parked, in µs; '0' if there is none. Deliveries parked later are newer. */
    async newest(subscriptionId: SubscriptionId): Promise<string> {
      const [, since] = await redis[execute]((commands) =>
        commands.zrange(parkedKey(subscriptionId), '0', '0', 'REV', 'WITHSCORES'),
      )
      return since ?? '0'
    },
    /**
     * At most `size` entries of the list, the oldest first. Fewer: the range ends there.
     * @returns `since`: when it was parked, in µs; `isWanted`: it is still parked, and the range selects it
     */
    async read(subscriptionId: SubscriptionId, range: ParkedRange, size: number) {
      const { after, until } = range
      const reply = await redis[execute]((commands) =>
        commands.zrangebyscore(parkedKey(subscriptionId), `(${after}`, until, 'WITHSCORES', 'LIMIT', 0, size),
      )
      const entries = scoredEntries(reply).map(toEntry)
      return Promise.all(entries.map(async (entry) => ({ ...entry, isWanted: await belongs(entry, range) })))
    },
    /** How many entries were added after `since` (µs). One command; stale entries count too. */
    countAfter: (subscriptionId: SubscriptionId, since: string): Promise<number> =>
      redis[execute]((commands) => commands.zcount(parkedKey(subscriptionId), `(${since}`, '+inf')),
    /** How many of the latest 1,000 entries that were added after `since` (µs) had been sent again before. */
    async countAgain(subscriptionId: SubscriptionId, since: string): Promise<number> {
      const reply = await redis[execute]((commands) =>
        commands.zrevrangebyscore(parkedKey(subscriptionId), '+inf', `(${since}`, 'WITHSCORES', 'LIMIT', 0, 1_000),
      )
      return scoredEntries(reply).filter((each) => toEntry(each).run > 1).length
    },
  }
}
