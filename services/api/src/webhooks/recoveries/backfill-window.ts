import {
  deliveryIdOf,
  type EventData,
  type EventType,
  passesFilter,
  type Subscription,
  type Tenant,
} from '@switchhook/contracts'
import { type JournalEntry, type JournalReader, journalIdAt, microsOf, type ParkedRange } from '@switchhook/store'
import { momentOf } from '../subscriptions/endpoint-health.ts'
import type { Item } from './recovery.ts'

interface BackfillRange extends Pick<ParkedRange, 'after' | 'until'> {
  readonly eventTypes: readonly EventType[]
}

type BackfillTarget = Pick<Subscription, 'id' | 'tenant' | 'createdAt' | 'filter'>

const COUNTED_AT_ONCE = 200
const LEAST_LOOKED_AT = 50
/** Far more than the clocks of the api and of fan-out differ. */
const CLOCK_MARGIN_MS = 60_000

export type BackfillWindow = ReturnType<typeof createBackfillWindow>

/** Reads the events of the journal that did not go to a subscription, the oldest first. Changes nothing. */
export function createBackfillWindow(journal: Pick<JournalReader, 'after' | 'newest'>) {
  const page = (tenant: Tenant, { after, until }: BackfillRange, size: number) =>
    journal.after(tenant, journalIdAt(after), size, journalIdAt(until))

  return {
    /** When the newest event of the tenant was journaled, in µs; null if there is none. */
    async newest(tenant: Tenant): Promise<string | null> {
      const newest = microsOf(await journal.newest(tenant))
      return newest === 0 ? null : String(newest)
    },
    /**
     * At most `limit` events. A bounded number of entries is read, so a short result need not be the last. `after` is for
     * the next call; null at the end of the range.
     */
    async take(target: BackfillTarget, range: BackfillRange, limit: number) {
      const size = Math.max(2 * limit, LEAST_LOOKED_AT)
      const entries = await page(target.tenant, range, size)
      const found = entries.filter((entry) => countedAs(entry, target, range) === 'count')
      const taken = found.slice(0, limit)
      const isCut = taken.length < found.length
      const last = isCut ? taken.at(-1) : entries.at(-1)
      return {
        entries: taken.map(
          ({ id, eventId }): Item => ({ deliveryId: deliveryIdOf(eventId, target.id), run: 0, journalId: id }),
        ),
        after: (isCut || entries.length === size) && last !== undefined ? String(microsOf(last.id)) : null,
      }
    },
    /** Reads every event of the range. `oldest` and `newest` of `count`: when they were journaled (ISO 8601, UTC). */
    async count(target: BackfillTarget, range: BackfillRange) {
      const timesMs: number[] = []
      const counts = { count: 0, withoutBody: 0, unknown: 0 }
      for (let after: string | undefined = range.after; after !== undefined; ) {
        const entries = await page(target.tenant, { ...range, after }, COUNTED_AT_ONCE)
        for (const entry of entries) {
          const kind = countedAs(entry, target, range)
          if (kind !== undefined) counts[kind] += 1
          if (kind === 'count') timesMs[counts.count === 1 ? 0 : 1] = microsOf(entry.id) / 1_000
        }
        const last = entries.at(-1)
        after = entries.length === COUNTED_AT_ONCE && last !== undefined ? String(microsOf(last.id)) : undefined
      }
      return { ...counts, oldest: momentOf(timesMs[0]), newest: momentOf(timesMs.at(-1)) }
    },
  }
}

/**
 * How an event counts. `count`: it is sent. `withoutBody`: the journal does not have its data. `unknown`: it may have gone
 * to the subscription. Undefined: it did, or the subscription does not want it.
 */
function countedAs(entry: JournalEntry, target: BackfillTarget, { eventTypes }: BackfillRange) {
  const { filter } = target
  const { eventType, dataJson } = entry
  if (!eventTypes.includes(eventType)) return undefined
  // An event without data may pass the filter.
  if (filter !== undefined && dataJson !== null) {
    if (!passesFilter(filter, eventType, JSON.parse(dataJson) as EventData)) return undefined
  }
  const went = wentTo(target, entry)
  if (went === true) return undefined
  if (went === 'unknown') return 'unknown'
  return dataJson === null ? 'withoutBody' : 'count'
}

/**
 * Whether the event went to the subscription. The journal keeps the first 100 subscriptions of an event, so for an event
 * that went to more it only shows that the subscription was among them, or that it did not exist yet.
 */
export function wentTo(
  { id, createdAt }: Pick<BackfillTarget, 'id' | 'createdAt'>,
  event: Pick<JournalEntry, 'subscriptionIds' | 'subscriptionCount' | 'fannedOutAt'>,
): boolean | 'unknown' {
  if (event.subscriptionIds.includes(id)) return true
  const isComplete = event.subscriptionIds.length === event.subscriptionCount
  const wasCreatedLater = Date.parse(createdAt) > Date.parse(event.fannedOutAt) + CLOCK_MARGIN_MS
  return isComplete || wasCreatedLater ? false : 'unknown'
}
