import {
  type DeliveryId,
  type EventId,
  type EventMark,
  eventMarkIn,
  eventMarkOf,
  type SubscriptionId,
  type Tenant,
} from '@switchhook/contracts'
import { SHORT_MS } from '../deliveries/ledger-store.ts'
import { journalIndexKey, journalKey, recipientsKey, refusedKey } from '../keys.ts'
import type { ListPart } from '../paging.ts'
import { execute, type Redis } from '../redis/redis.ts'
import {
  boundsOf,
  type JournalEntry,
  type JournalId,
  type JournalLimits,
  parseEntry,
  type StreamEntry,
} from './journal.ts'

/** Clocks differ, and an event can be listed a moment after its first delivery was settled. */
const RECENT_MARGIN_MS = 10_000

/** Before every entry. */
export const BEGINNING: JournalId = '0-0'

export type JournalReader = ReturnType<typeof createJournalReader>

/**
 * Reads the journal of each tenant. Without Redis it rejects with Unavailable.
 * @param limits of the writer: entries that are older than its retention count as removed, even if they still exist
 */
export function createJournalReader(redis: Redis, limits: JournalLimits) {
  const { hasData: isOn, retentionMs } = boundsOf(limits)
  const isKept = (id: JournalId): boolean => Number.parseInt(id, 10) >= Date.now() - retentionMs
  const oldestKept = (): JournalId => beginningAt(Date.now() - retentionMs)
  /** Data that was written while the journal had data is not shown. */
  const parse = (entry: StreamEntry): JournalEntry =>
    isOn ? parseEntry(entry) : { ...parseEntry(entry), dataJson: null }

  async function between(tenant: Tenant, from: string, until: string, count: number): Promise<JournalEntry[]> {
    const found = await redis[execute]((commands) => commands.xrange(journalKey(tenant), from, until, 'COUNT', count))
    return found.map(parse)
  }

  async function read(tenant: Tenant, id: JournalId): Promise<JournalEntry | undefined> {
    return isKept(id) ? (await between(tenant, id, id, 1))[0] : undefined
  }

  async function findMarked(tenant: Tenant, mark: EventMark): Promise<JournalEntry | undefined> {
    const at = await redis[execute]((commands) => commands.zscore(journalIndexKey(tenant), mark))
    return at === null ? undefined : read(tenant, journalIdAt(at))
  }

  const backwards = (tenant: Tenant, end: string, start: string, count: number): Promise<StreamEntry[]> =>
    redis[execute]((commands) => commands.xrevrange(journalKey(tenant), end, start, 'COUNT', count))

  async function lastUntil(tenant: Tenant, end: string): Promise<JournalId> {
    const [last] = await backwards(tenant, end, '-', 1)
    return last?.[0] ?? BEGINNING
  }

  return {
    /** False: the events have no data. */
    isOn,
    read,
    /** False: entries may have been removed since the first one was written. */
    async hasAll(tenant: Tenant): Promise<boolean> {
      const [oldest] = await between(tenant, '-', '+', 1)
      if (oldest === undefined) return true
      const about = await redis[execute]((commands) => commands.xinfo('STREAM', journalKey(tenant)))
      const [length, added] = ['length', 'entries-added'].map((name) => valueOf(about as unknown[], name))
      return isKept(oldest.id) && length === added
    },
    async find(tenant: Tenant, eventId: EventId): Promise<JournalEntry | undefined> {
      const found = await findMarked(tenant, eventMarkOf(eventId))
      return found?.eventId === eventId ? found : undefined
    },
    /** The event that a delivery can be of. */
    eventOf: (tenant: Tenant, delivery: DeliveryId): Promise<JournalEntry | undefined> =>
      findMarked(tenant, eventMarkIn(delivery)),
    /** All subscriptions that the event went to. Undefined: only the first `MAX_SUBSCRIPTIONS` are stored any more. */
    async recipients(entry: JournalEntry): Promise<readonly SubscriptionId[] | undefined> {
      if (entry.subscriptionIds.length === entry.subscriptionCount) return entry.subscriptionIds
      const stored = await redis[execute]((commands) => commands.get(recipientsKey(entry.eventId)))
      return stored === null ? undefined : (JSON.parse(stored) as SubscriptionId[])
    },
    /** Whether the finished deliveries of an event of `atMs` have records, but for those beyond the limit of the tenant. */
    hasRecords: (atMs: number): boolean => atMs >= Date.now() - limits.deliveryRetentionMs + RECENT_MARGIN_MS,
    /**
     * Whether a delivery that was fanned out at `atMs`, and has no record, is pending: that of a settled one would still exist.
     * Beyond its limit of settled deliveries, a tenant's records are kept for less time.
     */
    async recent(tenant: Tenant): Promise<(atMs: number) => boolean> {
      const refusedMs = await redis[execute]((commands) => commands.get(refusedKey(tenant, 'settled')))
      const nowMs = Date.now()
      const expiredMs = Math.max(nowMs - limits.deliveryRetentionMs, Math.min(Number(refusedMs), nowMs - SHORT_MS))
      return (atMs) => atMs >= expiredMs + RECENT_MARGIN_MS
    },
    /** At most `count` entries after `after` and up to `until` (inclusive), the oldest first. */
    async after(tenant: Tenant, after: JournalId, count: number, until = '+'): Promise<readonly JournalEntry[]> {
      const oldest = oldestKept()
      return between(tenant, isBefore(after, oldest) ? oldest : `(${after}`, until, count)
    },
    /** At most `count` entries before a place, the newest first. */
    async latest(tenant: Tenant, count: number, before?: JournalId): Promise<readonly JournalEntry[]> {
      const end = before === undefined ? '+' : `(${before}`
      return (await backwards(tenant, end, oldestKept(), count)).map(parse)
    },
    /**
     * The newest first. Only entries whose text has all of `texts` are parsed: most entries of a search are not.
     * @returns `since`: the time of an entry in µs
     */
    async newestFirst(tenant: Tenant, { before, from, count }: ListPart, texts: readonly string[] = []) {
      const end = placeAt(before)
      if (end === '(0-0') return []
      const start = placeAt(from)
      const oldest = oldestKept()
      const first = start !== '-' && isBefore(oldest, start) ? start : oldest
      return (await backwards(tenant, end, first, count)).map((stored) => {
        const isWanted = texts.every((text) => stored[1][1]?.includes(text))
        return { since: String(microsOf(stored[0])), entry: isWanted ? parse(stored) : undefined }
      })
    },
    /** The place of the last entry before a time, in ms since 1970; `BEGINNING` if there is none, or only removed ones. */
    async before(tenant: Tenant, ms: number): Promise<JournalId> {
      // Redis refuses a range that ends before the first possible id.
      const last = ms < 1 ? BEGINNING : await lastUntil(tenant, `(${beginningAt(ms)}`)
      return isKept(last) ? last : BEGINNING
    },
    /** The newest place; `BEGINNING` if the journal is empty. */
    newest: (tenant: Tenant): Promise<JournalId> => lastUntil(tenant, '+'),
  }
}

const valueOf = (pairs: readonly unknown[], name: string): unknown => pairs[pairs.indexOf(name) + 1]

const PLACE = /^\d{1,13}-\d{1,3}$/

/** Whether a text that a client sent can be a place. */
export const isJournalId = (text: string): boolean => PLACE.test(text)

const beginningAt = (ms: number): JournalId => `${Math.max(0, Math.floor(ms))}-0`

/** A time in µs since 1970 as a place in the journal. */
export function journalIdAt(micros: string | number): JournalId {
  const at = Math.max(0, Number(micros))
  return `${Math.floor(at / 1_000)}-${at % 1_000}`
}

/** A bound of a range of times (µs), in the syntax of Redis for scores, as one of a range of places. */
function placeAt(bound: string): string {
  if (bound === '+inf') return '+'
  if (bound === '-inf') return '-'
  return bound.startsWith('(') ? `(${journalIdAt(bound.slice(1))}` : journalIdAt(bound)
}

/** The time of a place, in µs since 1970. */
export function microsOf(id: JournalId): number {
  const [ms = '0', micros = '0'] = id.split('-')
  return Number(ms) * 1_000 + Number(micros)
}

export const isBefore = (a: JournalId, b: JournalId): boolean => microsOf(a) < microsOf(b)
