import type { Tenant } from '@switchhook/contracts'
import { auditKey, commandAuditKey } from '../keys.ts'
import { collectPage, createListCursor, entriesBelow, type RangeQuery } from '../paging.ts'
import { pipeline, type Redis, runScript } from '../redis/redis.ts'

/**
 * The lists that make up a tenant's audit log. Each has its own size, because a tenant that dials a hundred times a second
 * must not push out who changed a subscription. `firstSequence` keeps the ids of the lists apart.
 */
const LISTS = {
  webhooks: { keyOf: auditKey, firstSequence: 0 },
  commands: { keyOf: commandAuditKey, firstSequence: 2 ** 32 },
} as const

export type AuditList = keyof typeof LISTS

export interface AuditRetention {
  /** Entries of each list. */
  readonly entries: Readonly<Record<AuditList, number>>
  readonly retentionMs: number
}

export interface NewAuditEntry {
  readonly action: string
  readonly entry: unknown
}

/** The place of an entry is its id in its stream, which no entry of another list of the tenant has. Redis knows nothing before 0-0. */
const cursors = createListCursor('', /^[1-9]\d{0,15}-\d{1,16}$/)

export type AuditStore = ReturnType<typeof createAuditStore>

/** The audit log of each tenant. Without Redis it rejects with Unavailable. */
export const createAuditStore = (redis: Redis, { entries, retentionMs }: AuditRetention) => ({
  async append(tenant: Tenant, list: AuditList, added: readonly NewAuditEntry[]): Promise<void> {
    const { keyOf, firstSequence } = LISTS[list]
    const pairs = added.flatMap(({ action, entry }) => [action, JSON.stringify(entry)])
    const args = [entries[list], retentionMs, firstSequence, ...pairs]
    await runScript(redis, 'requests/append-audit', [keyOf(tenant)], args)
  },
  /**
   * The entries of the lists, the newest first. Entries that are appended later do not shift the pages.
   * @throws AppError `invalid-request` for a cursor that is not from this log
   */
  async page(tenant: Tenant, query: RangeQuery & { readonly lists: readonly AuditList[]; readonly action?: string }) {
    const { lists, limit, cursor, fromMs = 0, toMs, action } = query
    // Expired entries are removed only when the next entry is appended, so leave them out here.
    const from = `${Math.max(fromMs, Date.now() - retentionMs, 0)}-0`
    const begin = cursor === undefined ? beginning(toMs) : `(${cursors.parse(cursor)}`
    const entries = entriesBelow(begin, limit, async (before, count) => {
      const read = await pipeline(redis, (commands) =>
        lists.map((list) => commands.xrevrange(LISTS[list].keyOf(tenant), before, from, 'COUNT', count)),
      )
      return read
        .flat()
        .map(([id, [, entryAction, , entry = 'null']]) => ({ since: id, entryAction, entry }))
        .toSorted((a, b) => newestFirst(a.since, b.since))
        .slice(0, count)
    })
    return collectPage({ limit, entries, cursorOf: ({ since }) => cursors.of(since) }, async (read) =>
      read.map(({ since: id, entryAction, entry }) => {
        if (action !== undefined && entryAction !== action) return undefined
        return {
          /** `<ms since 1970>-<number>` by Redis' clock; sorts the log. */
          id,
          atMs: Number.parseInt(id, 10),
          entry: JSON.parse(entry) as unknown,
        }
      }),
    )
  },
})

function newestFirst(one: string, other: string): number {
  const [ms = 0, sequence = 0] = one.split('-').map(Number)
  const [otherMs = 0, otherSequence = 0] = other.split('-').map(Number)
  return otherMs - ms || otherSequence - sequence
}

const beginning = (toMs: number | undefined): string => (toMs === undefined ? '+' : `(${Math.max(toMs, 1)}-0`)
