import { AppError } from '@switchhook/contracts'
import { auditKey } from './keys.ts'
import { type Redis, run } from './redis.ts'

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
  /** For the next page; null on the last. */
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

/** Read in one go, where an action is looked for among others. */
const CHUNK = 500

export function createAuditStore(redis: Redis, { entries, retentionMs }: AuditRetention): AuditStore {
  return {
    async append(tenant, action, entry) {
      const args = [action, JSON.stringify(entry), entries, retentionMs]
      await redis[run]((commands) => commands.runScript('append-audit', [auditKey(tenant)], args))
    },
    async page(tenant, { limit, cursor, fromMs = 0, toMs, action }) {
      // A log to which nothing is added is not trimmed either.
      const from = `${Math.max(fromMs, Date.now() - retentionMs, 0)}-0`
      const chunk = action === undefined ? limit + 1 : CHUNK
      const found: AuditedEntry[] = []
      let before = cursor === undefined ? beginning(toMs) : `(${parseCursor(cursor)}`
      // One more than asked for tells whether there is another page.
      while (found.length <= limit) {
        const read = await redis[run]((commands) => commands.xrevrange(auditKey(tenant), before, from, 'COUNT', chunk))
        for (const [id, [, entryAction, , entry = 'null']] of read) {
          if (action === undefined || entryAction === action) found.push(toEntry(id, entry))
        }
        if (read.length < chunk) break
        before = `(${read.at(-1)?.[0]}`
      }
      const last = found.length > limit ? found[limit - 1] : undefined
      return {
        items: found.slice(0, limit),
        nextCursor: last === undefined ? null : Buffer.from(last.id).toString('base64url'),
      }
    },
  }
}

const beginning = (toMs: number | undefined): string => (toMs === undefined ? '+' : `(${Math.max(toMs, 1)}-0`)

const toEntry = (id: string, entry: string): AuditedEntry => ({
  id,
  atMs: Number.parseInt(id, 10),
  entry: JSON.parse(entry) as unknown,
})

function parseCursor(cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString()
  if (/^\d{1,16}-\d{1,16}$/.test(id)) return id
  throw new AppError('invalid-request', { errors: [{ pointer: '/cursor', detail: 'is not a cursor of this list' }] })
}
