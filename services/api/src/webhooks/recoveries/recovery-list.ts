import { deliveryIdOf, type EventData, type EventType, passesFilter, type Subscription } from '@switchhook/contracts'
import { type JournalEntry, type JournalReader, journalIdAt, microsOf, type ParkedWindow } from '@switchhook/store'
import { momentOf } from '../moment.ts'
import type { Item, Recovery } from './recovery.ts'

/** `withoutBody`: it cannot be sent. `unknown`: the event of a backfill may have gone to the subscription. */
type CountedAs = 'count' | 'withoutBody' | 'unknown'

interface Entry {
  readonly item: Item
  /** When it was parked or journaled, in µs since 1970, as text. */
  readonly at: string
  /** Undefined: the recovery does not select it. */
  readonly countedAs: CountedAs | undefined
}

/** Reads at most `size` entries after a time (µs), the oldest first. Fewer: the list ends there. */
type ReadEntries = (after: string, size: number) => Promise<readonly Entry[]>

type Target = Pick<Subscription, 'id' | 'tenant' | 'createdAt' | 'filter'>

const COUNTED_AT_ONCE = 250
const MIN_READ = 50
/** Far more than the clocks of the api and of fan-out differ. */
const CLOCK_MARGIN_MS = 60_000

/**
 * The list that a recovery sends: the parked deliveries of its subscription, or of a backfill, the events of the journal.
 * @param bodiesUntil parked deliveries until then (µs) have lost their body
 */
export function listOf(
  { parked, journal }: { readonly parked: Pick<ParkedWindow, 'read'>; readonly journal: Pick<JournalReader, 'after'> },
  target: Target,
  { kind, startedBy, selection, until }: Pick<Recovery, 'kind' | 'startedBy' | 'selection' | 'until'>,
  bodiesUntil = '0',
): ReadEntries {
  const { reason, eventTypes } = selection
  if (kind === 'backfill') {
    return async (after, size) => {
      const found = await journal.after(target.tenant, journalIdAt(after), size, journalIdAt(until))
      return found.map((event) => ({
        item: { deliveryId: deliveryIdOf(event.eventId, target.id), run: 0, journalId: event.id },
        at: String(microsOf(event.id)),
        countedAs: countedAs(event, target, eventTypes),
      }))
    }
  }
  const selected = { until, reason, eventTypes, isFirstRun: startedBy === 'recoverRejected' }
  return async (after, size) =>
    (await parked.read(target.id, { ...selected, after }, size)).map(({ deliveryId, run, since, isWanted }) => {
      const hasBody = Number(since) > Number(bodiesUntil)
      return {
        item: { deliveryId, run },
        at: since,
        countedAs: isWanted ? (hasBody ? 'count' : 'withoutBody') : undefined,
      }
    })
}

/**
 * At most `limit` items that can be sent. A bounded number of entries is read, so a short result need not be the last.
 * @returns `after`: that of the next call; null at the end of the list
 */
export async function takeItems(read: ReadEntries, after: string, limit: number) {
  // Twice the limit, because not every entry is sent.
  const size = Math.max(2 * limit, MIN_READ)
  const entries = await read(after, size)
  const found = entries.filter((entry) => entry.countedAs === 'count')
  const taken = found.slice(0, limit)
  const isCut = taken.length < found.length
  const last = isCut ? taken.at(-1) : entries.at(-1)
  return {
    items: taken.map(({ item }) => item),
    after: isCut || entries.length === size ? (last?.at ?? null) : null,
  }
}

/**
 * Reads the whole list, which takes seconds for hundreds of thousands.
 * @returns `oldest`, `newest`: when the first and the last item that can be sent were parked or journaled (ISO 8601, UTC);
 *   `sendableAfter`: nothing before it (µs) can be sent
 */
export async function countItems(read: ReadEntries, after: string) {
  const counts = { count: 0, withoutBody: 0, unknown: 0 }
  const times: string[] = []
  let sendableAfter = after
  for (let entries: readonly Entry[] = [], from: string | undefined = after; from !== undefined; ) {
    entries = await read(from, COUNTED_AT_ONCE)
    for (const { at, countedAs: as } of entries) {
      if (as !== undefined) counts[as] += 1
      if (as === 'count') times[counts.count === 1 ? 0 : 1] = at
      if (counts.count === 0) sendableAfter = at
    }
    from = entries.length === COUNTED_AT_ONCE ? entries.at(-1)?.at : undefined
  }
  const [oldest, newest] = [times[0], times.at(-1)].map((at) =>
    at === undefined ? null : momentOf(Number(at) / 1_000),
  )
  return { ...counts, oldest, newest, sendableAfter }
}

/** How an event of the journal counts. Undefined: it went to the subscription, or the subscription does not want it. */
function countedAs(
  event: JournalEntry,
  target: Target,
  eventTypes: readonly EventType[] | null,
): CountedAs | undefined {
  const { filter } = target
  const { eventType, dataJson } = event
  if (eventTypes?.includes(eventType) === false) return undefined
  // An event without data may pass the filter.
  if (filter !== undefined && dataJson !== null) {
    if (!passesFilter(filter, eventType, JSON.parse(dataJson) as EventData)) return undefined
  }
  const went = wentTo(target, event)
  if (went === true) return undefined
  if (went === 'unknown') return 'unknown'
  return dataJson === null ? 'withoutBody' : 'count'
}

/**
 * Whether the event went to the subscription. The journal keeps the first 100 subscriptions of an event, so for an event
 * that went to more it only shows that the subscription was among them, or that it did not exist yet.
 */
export function wentTo(
  { id, createdAt }: Pick<Target, 'id' | 'createdAt'>,
  event: Pick<JournalEntry, 'subscriptionIds' | 'subscriptionCount' | 'fannedOutAt'>,
): boolean | 'unknown' {
  if (event.subscriptionIds.includes(id)) return true
  const isComplete = event.subscriptionIds.length === event.subscriptionCount
  const wasCreatedLater = Date.parse(createdAt) > Date.parse(event.fannedOutAt) + CLOCK_MARGIN_MS
  return isComplete || wasCreatedLater ? false : 'unknown'
}
