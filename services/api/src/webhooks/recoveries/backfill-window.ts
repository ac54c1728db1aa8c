import {
  deliveryIdOf,
  type EventData,
  type EventType,
  passesFilter,
  type Subscription,
  type Tenant,
} from '@switchhook/contracts'
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

type JournaledRecipients = Pick<JournalEntry, 'subscriptionIds' | 'subscriptionCount' | 'fannedOutAt'>

type BackfillTarget = Pick<Subscription, 'id' | 'tenant' | 'createdAt' | 'filter'>

interface Taken {
  readonly entries: readonly Item[]
  /** `after` of the next call; null at the end of the range. */
  readonly after: string | null
}

interface Count {
  readonly count: number
  /** Events whose data the journal does not have. They cannot be sent. */
  readonly withoutBody: number
  /** Events that may have gone to the subscription, see `wentTo`. They are not sent. */
  readonly unknown: number
  /** When the first and the last of `count` were journaled (ISO 8601, UTC); null if there are none. */
  readonly oldest: string | null
  readonly newest: string | null
}

/** Reads the events of the journal that did not go to a subscription, the oldest first. Changes nothing. */
export interface BackfillWindow {
  /** When the newest event of the tenant was journaled, in µs; null if there is none. */
  newest(tenant: Tenant): Promise<string | null>
  /** At most `limit` events. A bounded number of entries is read, so a short result need not be the last. */
  take(target: BackfillTarget, range: BackfillRange, limit: number): Promise<Taken>
  /** Reads every event of the range. */
  count(target: BackfillTarget, range: BackfillRange): Promise<Count>
}

const COUNTED_AT_ONCE = 200
const LEAST_LOOKED_AT = 50
/** Far more than the clocks of the api and of fan-out differ. */
const CLOCK_MARGIN_MS = 60_000

export function createBackfillWindow(journal: Pick<JournalReader, 'after' | 'newest'>): BackfillWindow {
  const page = (tenant: Tenant, { after, until }: BackfillRange, size: number) =>
    journal.after(tenant, journalIdAt(after), size, journalIdAt(until))

  return {
    async newest(tenant) {
      const newest = microsOf(await journal.newest(tenant))
      return newest === 0 ? null : String(newest)
    },
    async take(target, range, limit) {
      const size = Math.max(2 * limit, LEAST_LOOKED_AT)
      const entries = await page(target.tenant, range, size)
      const found = entries.filter(
        (entry) =>
          entry.dataJson !== null &&
          range.eventTypes.includes(entry.eventType) &&
          isWanted(target, entry) &&
          wentTo(target, entry) === false,
      )
      const taken = found.slice(0, limit)
      const isCut = taken.length < found.length
      const last = isCut ? taken.at(-1) : entries.at(-1)
      return {
        entries: taken.map(({ id, eventId }) => ({
          deliveryId: deliveryIdOf(eventId, target.id),
          run: 0,
          journalId: id,
        })),
        after: (isCut || entries.length === size) && last !== undefined ? String(microsOf(last.id)) : null,
      }
    },
    async count(target, range) {
      const times: number[] = []
      let [count, withoutBody, unknown] = [0, 0, 0]
      for (let after: string | undefined = range.after; after !== undefined; ) {
        const entries = await page(target.tenant, { ...range, after }, COUNTED_AT_ONCE)
        for (const entry of entries) {
          if (!range.eventTypes.includes(entry.eventType) || !isWanted(target, entry)) continue
          const went = wentTo(target, entry)
          if (went === true) continue
          if (went === 'unknown') unknown += 1
          else if (entry.dataJson === null) withoutBody += 1
          else {
            count += 1
            times[count === 1 ? 0 : 1] = microsOf(entry.id)
          }
        }
        const last = entries.at(-1)
        after = entries.length === COUNTED_AT_ONCE && last !== undefined ? String(microsOf(last.id)) : undefined
      }
      return { count, withoutBody, unknown, oldest: isoOf(times[0]), newest: isoOf(times.at(-1)) }
    },
  }
}

/** Whether the filter passes the event. One whose data the journal does not have passes, and is then counted as such. */
const isWanted = ({ filter }: BackfillTarget, { eventType, dataJson }: Pick<JournalEntry, 'eventType' | 'dataJson'>) =>
  filter === undefined || dataJson === null || passesFilter(filter, eventType, JSON.parse(dataJson) as EventData)

/**
 * Whether the event went to the subscription. The journal keeps the first 100 subscriptions of an event, so for an event
 * that went to more it only shows that the subscription was among them, or that it did not exist yet.
 */
export function wentTo(
  { id, createdAt }: Pick<BackfillTarget, 'id' | 'createdAt'>,
  { subscriptionIds, subscriptionCount, fannedOutAt }: JournaledRecipients,
): boolean | 'unknown' {
  if (subscriptionIds.includes(id)) return true
  const isComplete = subscriptionIds.length === subscriptionCount
  const wasCreatedLater = Date.parse(createdAt) > Date.parse(fannedOutAt) + CLOCK_MARGIN_MS
  return isComplete || wasCreatedLater ? false : 'unknown'
}

const isoOf = (micros: number | undefined): string | null =>
  micros === undefined ? null : new Date(Math.floor(micros / 1_000)).toISOString()
