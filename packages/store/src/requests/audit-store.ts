import { auditKey } from '../keys.ts'
import { createListCursor } from '../list-cursor.ts'
import { type Redis, run } from '../redis/redis.ts'
import { scanPage } from '../scan-page.ts'

/** How much of it is kept, for each tenant. */
export interface AuditRetention {
  readonly entries: number
  readonly retentionMs: number
}

interface AuditedEntry {
  /** By Redis' clock, ms since 1970, then a number within that; the order of the log. */
  readonly id: string
  readonly atMs: number
  /** What was appended. */
  readonly entry: unknown
}

interface AuditPage {
  readonly items: readonly AuditedEntry[]
  /** For the next page; null on the last. A page may be short, or empty, and have one all the same. */
  readonly nextCursor: string | null
}

export interface AuditQuery {
  readonly limit: number
  readonly cursor?: string
  /** From then on, ms since 1970. */
  readonly fromMs?: number
  /** Before then, ms since 1970. */
  readonly toMs?: number
  readonly action?: string
}

/** What was done, a log for each tenant. Rejects with Unavailable without Redis. */
export interface AuditStore {
  /** @param entry anything that JSON can say */
  append(tenant: string | null, action: string, entry: unknown): Promise<void>
  /**
   * The newest first; what is appended while somebody pages shifts no page.
   * @throws AppError `invalid-request` for a cursor that this log has not given
   */
  page(tenant: string | null, query: AuditQuery): Promise<AuditPage>
}

/** The id of a stream's entry. */
const cursors = createListCursor('', /^\d{1,16}-\d{1,16}$/)

export function createAuditStore(redis: Redis, { entries, retentionMs }: AuditRetention): AuditStore {
  return {
    async append(tenant, action, entry) {
      const args = [action, JSON.stringify(entry), entries, retentionMs]
      await redis[run]((commands) => commands.runScript('requests/append-audit', [auditKey(tenant)], args))
    },
    async page(tenant, { limit, cursor, fromMs = 0, toMs, action }) {
      // A log to which nothing is added is not trimmed either.
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
