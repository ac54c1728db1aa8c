import { auditKey } from '../keys.ts'
import { createListCursor, scanPage } from '../paging.ts'
import { type Redis, run } from '../redis/redis.ts'

/** How much of each tenant's log is kept. */
export interface AuditRetention {
  readonly entries: number
  readonly retentionMs: number
}

interface AuditedEntry {
  /** `<ms since 1970>-<number>` by Redis' clock; sorts the log. */
  readonly id: string
  readonly atMs: number
  /** As it was appended. */
  readonly entry: unknown
}

interface AuditPage {
  readonly items: readonly AuditedEntry[]
  /** Null on the last page. Other pages may also be short or empty. */
  readonly nextCursor: string | null
}

export interface AuditQuery {
  readonly limit: number
  readonly cursor?: string
  /** Inclusive, ms since 1970. */
  readonly fromMs?: number
  /** Exclusive, ms since 1970. */
  readonly toMs?: number
  readonly action?: string
}

/** The audit log of each tenant. Without Redis it rejects with Unavailable. */
export interface AuditStore {
  /** @param entry any JSON value */
  append(tenant: string | null, action: string, entry: unknown): Promise<void>
  /**
   * The newest first. Entries that are appended later do not shift the pages.
   * @throws AppError `invalid-request` for a cursor that is not from this log
   */
  page(tenant: string | null, query: AuditQuery): Promise<AuditPage>
}

/** The place of an entry is its id in the stream. */
const cursors = createListCursor('', /^\d{1,16}-\d{1,16}$/)

export function createAuditStore(redis: Redis, { entries, retentionMs }: AuditRetention): AuditStore {
  return {
    async append(tenant, action, entry) {
      const args = [action, JSON.stringify(entry), entries, retentionMs]
      await redis[run]((commands) => commands.runScript('requests/append-audit', [auditKey(tenant)], args))
    },
    async page(tenant, { limit, cursor, fromMs = 0, toMs, action }) {
      // Expired entries are removed only when the next entry is appended, so leave them out here.
      const from = `${Math.max(fromMs, Date.now() - retentionMs, 0)}-0`
      const { items, end } = await scanPage({
        limit,
        before: cursor === undefined ? beginning(toMs) : `(${cursors.parse(cursor)}`,
        entriesBefore: async (before, count) => {
          const key = auditKey(tenant)
          const read = await redis[run]((commands) => commands.xrevrange(key, before, from, 'COUNT', count))
          return read.map(([id, [, entryAction, , entry = 'null']]) => ({ since: id, entryAction, entry }))
        },
        load: async (read) =>
          read.map(({ since, entryAction, entry }) =>
            action === undefined || entryAction === action ? toEntry(since, entry) : undefined,
          ),
      })
      return { items, nextCursor: end === undefined ? null : cursors.of(end) }
    },
  }
}

const beginning = (toMs: number | undefined): string => (toMs === undefined ? '+' : `(${Math.max(toMs, 1)}-0`)

const toEntry = (id: string, entry: string): AuditedEntry => ({
  id,
  atMs: Number.parseInt(id, 10),
  entry: JSON.parse(entry) as unknown,
})
