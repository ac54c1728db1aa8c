import type { DeliveryId, ParkedReason, SubscriptionId } from '@switchhook/contracts'
import { parkedKey, recordKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import { type Ledger, parseLedger, parseRecord } from './delivery-record.ts'
import { isParked, type ParkedEntry, toEntry } from './parked-index.ts'

/** Which parked deliveries of a subscription, by when they were parked. */
export interface ParkedRange {
  /** In µs since 1970, as text; what was parked at this very moment is not in it. */
  readonly after: string
  /** The same; what was parked at this very moment is in it. */
  readonly until: string
  /** null: parked for whatever reason. */
  readonly reason: ParkedReason | null
}

interface Found {
  readonly entries: readonly Pick<ParkedEntry, 'deliveryId' | 'run'>[]
  /** Where the next look begins; null when the range has been looked through. */
  readonly after: string | null
}

interface Count {
  readonly count: number
  /** ISO 8601, UTC: when the first and the last of them were parked; null when there are none. */
  readonly oldest: string | null
  readonly newest: string | null
}

/** How a run of a delivery stands; `unknown`: it is no longer remembered, or a later run has begun. */
export type RunState = Ledger['state'] | 'unknown'

/** The parked deliveries of a subscription, the oldest first, for whoever goes through all of them. Changes nothing. */
export interface ParkedWindow {
  /** When the newest one was parked, in µs; null when there is none. All that are parked from now on are newer. */
  newest(subscriptionId: SubscriptionId): Promise<string | null>
  /** At most `limit` of them. Looks at a bounded number, so that there may be fewer and yet more to come. */
  take(subscriptionId: SubscriptionId, range: ParkedRange, limit: number): Promise<Found>
  /** Looks at every one, which takes seconds for hundreds of thousands. */
  count(subscriptionId: SubscriptionId, range: ParkedRange): Promise<Count>
  /**
   * How many of the list were parked after this moment, in µs, until now. At one command's cost: some that have moved on since may
   * still be listed, and count.
   */
  countAfter(subscriptionId: SubscriptionId, since: string): Promise<number>
  stateOf(delivery: { readonly deliveryId: DeliveryId; readonly run: number }): Promise<RunState>
}

/** Longer than any ledger line. */
const LEDGER_BYTES = 48
const COUNTED_AT_ONCE = 500
const LEAST_LOOKED_AT = 50

export function createParkedWindow(redis: Redis): ParkedWindow {
  async function page(id: SubscriptionId, { after, until }: ParkedRange, size: number): Promise<ParkedEntry[]> {
    const reply = await redis[run]((commands) =>
      commands.zrangebyscore(parkedKey(id), `(${after}`, until, 'WITHSCORES', 'LIMIT', 0, size),
    )
    return Array.from({ length: reply.length / 2 }, (_, i) => toEntry(reply[2 * i] ?? '', reply[2 * i + 1] ?? ''))
  }

  const ledgerOf = async (deliveryId: DeliveryId): Promise<Ledger | undefined> =>
    parseLedger(await redis[run]((commands) => commands.getrange(recordKey(deliveryId), 0, LEDGER_BYTES - 1)))

  /** The reason stands in the whole record only. */
  async function belongs({ deliveryId, run: listedRun }: ParkedEntry, reason: ParkedReason | null): Promise<boolean> {
    if (reason === null) {
      const ledger = await ledgerOf(deliveryId)
      return ledger !== undefined && isParked({ ledger }, listedRun)
    }
    const found = parseRecord((await redis[run]((commands) => commands.get(recordKey(deliveryId)))) ?? '')
    return found !== undefined && isParked(found, listedRun) && found.view.parkedReason === reason
  }

  /** A page of the list, and which of it are really parked. */
  async function look(subscriptionId: SubscriptionId, range: ParkedRange, size: number) {
    const entries = await page(subscriptionId, range, size)
    const isIn = await Promise.all(entries.map((entry) => belongs(entry, range.reason)))
    return { entries, found: entries.filter((_, i) => isIn[i]) }
  }

  return {
    async newest(subscriptionId) {
      const [, since] = await redis[run]((commands) =>
        commands.zrange(parkedKey(subscriptionId), '0', '0', 'REV', 'WITHSCORES'),
      )
      return since ?? null
    },
    async take(subscriptionId, range, limit) {
      // Twice as many: some may have moved on, or be parked for another reason.
      const size = Math.max(2 * limit, LEAST_LOOKED_AT)
      const { entries, found } = await look(subscriptionId, range, size)
      const taken = found.slice(0, limit)
      const isCut = taken.length < found.length
      const last = isCut ? taken.at(-1) : entries.at(-1)
      return {
        entries: taken.map(({ deliveryId, run: parkedRun }) => ({ deliveryId, run: parkedRun })),
        after: isCut || entries.length === size ? (last?.since ?? null) : null,
      }
    },
    async count(subscriptionId, range) {
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
      return { count, oldest: toIso(oldest), newest: toIso(newest) }
    },
    countAfter: (subscriptionId, since) =>
      redis[run]((commands) => commands.zcount(parkedKey(subscriptionId), `(${since}`, '+inf')),
    async stateOf({ deliveryId, run: ofRun }) {
      const ledger = await ledgerOf(deliveryId)
      return ledger?.run === ofRun ? ledger.state : 'unknown'
    },
  }
}

const toIso = (sinceUs: string | undefined): string | null =>
  sinceUs === undefined ? null : new Date(Math.floor(Number(sinceUs) / 1_000)).toISOString()
