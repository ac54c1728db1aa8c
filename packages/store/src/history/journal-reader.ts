import type { EventId, Tenant } from '@switchhook/contracts'
import { journalIndexKey, journalKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import { type JournalEntry, type JournalId, type JournalLimits, parseEntry } from './journal.ts'

/** Before every entry. */
export const BEGINNING: JournalId = '0-0'

export type JournalReader = ReturnType<typeof createJournalReader>

/**
 * Reads the journal of each tenant. Without Redis it rejects with Unavailable.
 * @param limits of the writer: entries that are older than its retention count as removed, even if they still exist
 */
export function createJournalReader(redis: Redis, { size, retentionMs }: JournalLimits) {
  const isOn = size > 0
  const isKept = (id: JournalId): boolean => Number.parseInt(id, 10) >= Date.now() - retentionMs
  const oldestKept = (): JournalId => beginningAt(Date.now() - retentionMs)

  async function between(tenant: Tenant, from: string, until: string, count: number): Promise<JournalEntry[]> {
    if (!isOn) return []
    const found = await redis[run]((commands) => commands.xrange(journalKey(tenant), from, until, 'COUNT', count))
    return found.map(parseEntry)
  }

  async function read(tenant: Tenant, id: JournalId): Promise<JournalEntry | undefined> {
    return isKept(id) ? (await between(tenant, id, id, 1))[0] : undefined
  }

  async function lastUntil(tenant: Tenant, end: string): Promise<JournalId> {
    if (!isOn) return BEGINNING
    const [last] = await redis[run]((commands) => commands.xrevrange(journalKey(tenant), end, '-', 'COUNT', 1))
    return last?.[0] ?? BEGINNING
  }

  return {
    /** False: the journal is turned off, and every read finds nothing. */
    isOn,
    read,
    /** False: entries may have been removed since the first one was written. */
    async hasAll(tenant: Tenant): Promise<boolean> {
      const [oldest] = await between(tenant, '-', '+', 1)
      if (oldest === undefined) return true
      const about = await redis[run]((commands) => commands.xinfo('STREAM', journalKey(tenant)))
      const [length, added] = ['length', 'entries-added'].map((name) => valueOf(about as unknown[], name))
      return isKept(oldest.id) && length === added
    },
    async find(tenant: Tenant, eventId: EventId): Promise<JournalEntry | undefined> {
      if (!isOn) return undefined
      const at = await redis[run]((commands) => commands.zscore(journalIndexKey(tenant), eventId))
      return at === null ? undefined : read(tenant, journalIdAt(at))
    },
    async areJournaled(tenant: Tenant, eventIds: readonly EventId[]): Promise<boolean[]> {
      if (!isOn || eventIds.length === 0) return eventIds.map(() => false)
      const found = await redis[run]((commands) => commands.zmscore(journalIndexKey(tenant), ...eventIds))
      return found.map((at) => at !== null && isKept(journalIdAt(at)))
    },
    /** At most `count` entries after `after` and up to `until` (inclusive), the oldest first. */
    async after(tenant: Tenant, after: JournalId, count: number, until = '+'): Promise<readonly JournalEntry[]> {
      const oldest = oldestKept()
      return between(tenant, isBefore(after, oldest) ? oldest : `(${after}`, until, count)
    },
    /** At most `count` entries before a place, the newest first. */
    async latest(tenant: Tenant, count: number, before?: JournalId): Promise<readonly JournalEntry[]> {
      if (!isOn) return []
      const end = before === undefined ? '+' : `(${before}`
      const found = await redis[run]((commands) =>
        commands.xrevrange(journalKey(tenant), end, oldestKept(), 'COUNT', count),
      )
      return found.map(parseEntry)
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

/** The time of a place, in µs since 1970. */
export function microsOf(id: JournalId): number {
  const [ms = '0', micros = '0'] = id.split('-')
  return Number(ms) * 1_000 + Number(micros)
}

export const isBefore = (a: JournalId, b: JournalId): boolean => microsOf(a) < microsOf(b)
