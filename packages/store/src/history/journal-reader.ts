import type { EventId, Tenant } from '@switchhook/contracts'
import { journalIndexKey, journalKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import { type JournalEntry, type JournalId, type JournalLimits, parseEntry } from './journal.ts'

/** Reads the journal of each tenant. Without Redis it rejects with Unavailable. */
export interface JournalReader {
  /** False: the journal is turned off, and every read finds nothing. */
  readonly isOn: boolean
  find(tenant: Tenant, eventId: EventId): Promise<JournalEntry | undefined>
  read(tenant: Tenant, id: JournalId): Promise<JournalEntry | undefined>
  /** Whether each event is in the journal, in one round trip. */
  areJournaled(tenant: Tenant, eventIds: readonly EventId[]): Promise<boolean[]>
  /** At most `count` entries after `after` and up to `until` (inclusive), the oldest first. */
  after(tenant: Tenant, after: JournalId, count: number, until?: JournalId): Promise<readonly JournalEntry[]>
  /** At most `count` entries before a place, the newest first. */
  latest(tenant: Tenant, count: number, before?: JournalId): Promise<readonly JournalEntry[]>
  /** The place of the last entry before a time, in ms since 1970; `BEGINNING` if there is none. */
  before(tenant: Tenant, ms: number): Promise<JournalId>
  /** The newest place; `BEGINNING` if the journal is empty. */
  newest(tenant: Tenant): Promise<JournalId>
}

/** Before every entry. */
export const BEGINNING: JournalId = '0-0'

/** @param limits of the writer: entries that are older than its retention count as removed, even if they still exist */
export function createJournalReader(redis: Redis, { size, retentionMs }: JournalLimits): JournalReader {
  const isOn = size > 0
  const isKept = (id: JournalId): boolean => Number.parseInt(id, 10) >= Date.now() - retentionMs

  async function between(tenant: Tenant, from: string, until: string, count: number): Promise<JournalEntry[]> {
    if (!isOn) return []
    const found = await redis[run]((commands) => commands.xrange(journalKey(tenant), from, until, 'COUNT', count))
    return found.map(([id, fields]) => parseEntry(id, fields))
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
    isOn,
    read,
    async find(tenant, eventId) {
      if (!isOn) return undefined
      const at = await redis[run]((commands) => commands.zscore(journalIndexKey(tenant), eventId))
      return at === null ? undefined : read(tenant, journalIdAt(at))
    },
    async areJournaled(tenant, eventIds) {
      if (!isOn || eventIds.length === 0) return eventIds.map(() => false)
      const found = await redis[run]((commands) => commands.zmscore(journalIndexKey(tenant), ...eventIds))
      return found.map((at) => at !== null && isKept(journalIdAt(at)))
    },
    async after(tenant, after, count, until = '+') {
      const oldest = beginningAt(Date.now() - retentionMs)
      return between(tenant, isBefore(after, oldest) ? oldest : `(${after}`, until, count)
    },
    async latest(tenant, count, before) {
      if (!isOn) return []
      const end = before === undefined ? '+' : `(${before}`
      const oldest = beginningAt(Date.now() - retentionMs)
      const found = await redis[run]((commands) => commands.xrevrange(journalKey(tenant), end, oldest, 'COUNT', count))
      return found.map(([id, fields]) => parseEntry(id, fields))
    },
    before: (tenant, ms) => lastUntil(tenant, `(${beginningAt(ms)}`),
    newest: (tenant) => lastUntil(tenant, '+'),
  }
}

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
