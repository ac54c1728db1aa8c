import { deliveryIdOf, type EventType, type SubscriptionId } from '@switchhook/contracts'
import { type JournalEntry, type JournalReader, journalIdAt, microsOf } from '@switchhook/store'
import type { Item } from './recovery.ts'

/** The events of the journal that a backfill sends to a subscription. */
interface BackfillRange {
  /** In µs since 1970, as text; exclusive. */
  readonly after: string
  /** Likewise; inclusive. */
  readonly until: string
  readonly eventTypes: readonly EventType[]
}

/** A subscription with its tenant. */
interface BackfillTarget {
  readonly tenant: string | null
  readonly subscriptionId: SubscriptionId
}

interface Taken {
  readonly entries: readonly Item[]
  /** `after` of the next call; null at the end of the range. */
  readonly after: string | null
}

interface Count {
  readonly count: number
  /** Events whose data the journal does not have. They cannot be sent. */
  readonly withoutBody: number
  /** When the first and the last of the others were journaled (ISO 8601, UTC); null if there are none. */
  readonly oldest: string | null
  readonly newest: string | null
}

/** Reads the events of the journal that did not go to a subscription, the oldest first. Changes nothing. */
export interface BackfillWindow {
  /** When the newest event of the tenant was journaled, in µs; null if there is none. */
  newest(tenant: string | null): Promise<string | null>
  /** At most `limit` events. A bounded number of entries is read, so a short result need not be the last. */
  take(target: BackfillTarget, range: BackfillRange, limit: number): Promise<Taken>
  /** Reads every event of the range. */
  count(target: BackfillTarget, range: BackfillRange): Promise<Count>
}

const COUNTED_AT_ONCE = 200
const LEAST_LOOKED_AT = 50

export function createBackfillWindow(journal: Pick<JournalReader, 'after' | 'newest'>): BackfillWindow {
  const page = (tenant: string | null, { after, until }: BackfillRange, size: number) =>
    journal.after(tenant, journalIdAt(after), size, journalIdAt(until))

  return {
    async newest(tenant) {
      const newest = microsOf(await journal.newest(tenant))
      return newest === 0 ? null : String(newest)
    },
    async take({ tenant, subscriptionId }, range, limit) {
      const size = Math.max(2 * limit, LEAST_LOOKED_AT)
      const entries = await page(tenant, range, size)
      const found = entries.filter((entry) => entry.dataJson !== null && isMissing(entry, subscriptionId, range))
      const taken = found.slice(0, limit)
      const isCut = taken.length < found.length
      const last = isCut ? taken.at(-1) : entries.at(-1)
      return {
        entries: taken.map(({ id, eventId }) => ({
          deliveryId: deliveryIdOf(eventId, subscriptionId),
          run: 0,
          journalId: id,
        })),
        after: (isCut || entries.length === size) && last !== undefined ? String(microsOf(last.id)) : null,
      }
    },
    async count({ tenant, subscriptionId }, range) {
      const times: number[] = []
      let count = 0
      let withoutBody = 0
      for (let after: string | undefined = range.after; after !== undefined; ) {
        const entries = await page(tenant, { ...range, after }, COUNTED_AT_ONCE)
        for (const entry of entries.filter((each) => isMissing(each, subscriptionId, range))) {
          if (entry.dataJson === null) withoutBody += 1
          else {
            count += 1
            times[count === 1 ? 0 : 1] = microsOf(entry.id)
          }
        }
        const last = entries.at(-1)
        after = entries.length === COUNTED_AT_ONCE && last !== undefined ? String(microsOf(last.id)) : undefined
      }
      return { count, withoutBody, oldest: isoOf(times[0]), newest: isoOf(times.at(-1)) }
    },
  }
}

/** Whether the event has one of the types and did not go to the subscription, as far as the journal knows. */
const isMissing = (
  { eventType, subscriptionIds }: JournalEntry,
  subscriptionId: SubscriptionId,
  { eventTypes }: BackfillRange,
): boolean => eventTypes.includes(eventType) && !subscriptionIds.includes(subscriptionId)

const isoOf = (micros: number | undefined): string | null =>
  micros === undefined ? null : new Date(Math.floor(micros / 1_000)).toISOString()
