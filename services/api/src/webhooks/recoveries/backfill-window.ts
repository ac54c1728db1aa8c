import { deliveryIdOf, type EventData, type EventType, passesFilter, type Subscription } from '@switchhook/contracts'
import { type JournalEntry, type JournalReader, journalIdAt, microsOf, type ParkedRange } from '@switchhook/store'
import { momentOf } from '../moment.ts'
import type { Item } from './recovery.ts'

interface BackfillRange extends Pick<ParkedRange, 'after' | 'until'> {
  readonly eventTypes: readonly EventType[]
}

type Journal = Pick<JournalReader, 'after'>

type BackfillTarget = Pick<Subscription, 'id' | 'tenant' | 'createdAt' | 'filter'>

const COUNTED_AT_ONCE = 200
const MIN_LOOKED_AT = 50
/** Far more than the clocks of the api and of fan-out differ. */
const CLOCK_MARGIN_MS = 60_000

/**
 * At most `limit` events of the journal that did not go to a subscription, the oldest first. A bounded number of entries
 * is read, so a short result need not be the last. `after` is for the next call; null at the end of the range.
 */
export async function takeMissed(journal: Journal, target: BackfillTarget, range: BackfillRange, limit: number) {
  const size = Math.max(2 * limit, MIN_LOOKED_AT)
  const entries = await journal.after(target.tenant, journalIdAt(range.after), size, journalIdAt(range.until))
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
}

/** Reads every event of the range. `oldest` and `newest` of `count`: when they were journaled (ISO 8601, UTC). */
export async function countMissed(journal: Journal, target: BackfillTarget, range: BackfillRange) {
  const timesMs: number[] = []
  const counts = { count: 0, withoutBody: 0, unknown: 0 }
  const until = journalIdAt(range.until)
  for (let after = journalIdAt(range.after); ; ) {
    const entries = await journal.after(target.tenant, after, COUNTED_AT_ONCE, until)
    for (const entry of entries) {
      const kind = countedAs(entry, target, range)
      if (kind !== undefined) counts[kind] += 1
      if (kind === 'count') timesMs[counts.count === 1 ? 0 : 1] = microsOf(entry.id) / 1_000
    }
    const last = entries.at(-1)
    if (last === undefined || entries.length < COUNTED_AT_ONCE) break
    after = last.id
  }
  return { ...counts, oldest: momentOf(timesMs[0]), newest: momentOf(timesMs.at(-1)) }
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
