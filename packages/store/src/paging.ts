import { AppError } from '@switchhook/contracts'
import { type Redis, run } from './redis/redis.ts'

export interface PageQuery {
  readonly limit: number
  readonly cursor?: string
}

/** Asks for a page of a list that is sorted by time. */
export interface RangeQuery extends PageQuery {
  /** Added to the list from `fromMs` on and before `toMs`, in ms since 1970. */
  readonly fromMs?: number
  readonly toMs?: number
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Null on the last page. Other pages may be short or empty. */
  readonly nextCursor: string | null
}

type ListCursor = ReturnType<typeof createListCursor>

/**
 * Converts a place in a list to the opaque text that clients see, and back.
 * @param kind a prefix that keeps cursors of different kinds of lists apart
 */
export function createListCursor(kind: string, place: RegExp) {
  return {
    of: (since: string): string => Buffer.from(`${kind}${since}`).toString('base64url'),
    /** @throws AppError `invalid-request` for a text that `of` of this kind of list did not return */
    parse(cursor: string): string {
      const text = Buffer.from(cursor, 'base64url').toString()
      const since = text.slice(kind.length)
      if (text.startsWith(kind) && place.test(since)) return since
      throw new AppError('invalid-request', {
        errors: [{ pointer: '/cursor', detail: 'is not a cursor of this list' }],
      })
    },
  }
}

/** A place in a list that is sorted by time in µs, as Redis formats the score. */
export const MICROSECONDS = /^\d{1,16}$/

/** Converts such a place to ISO 8601, UTC. */
export const isoTime = (since: string): string => new Date(Math.floor(Number(since) / 1_000)).toISOString()

/** An entry with a place that no other entry of its list has: a time in µs or the id of a stream entry; the newest is highest. */
type Placed = Pick<ScoredEntry, 'since'>

interface Reading<Entry extends Placed> {
  readonly limit: number
  readonly cursors: ListCursor
  /** The page begins below this score or id, in the syntax of Redis. */
  readonly before: string
  readonly entriesBefore: (before: string, count: number) => Promise<readonly Entry[]>
}

interface Scan<Entry extends Placed, Item> extends Reading<Entry> {
  /** Resolves to one item per entry; undefined if the entry does not belong on the page. */
  readonly load: (entries: readonly Entry[]) => Promise<readonly (Item | undefined)[]>
  /** Bounds the cost of a page of rare items. Such a page may be short without being the last. */
  readonly mostScanned?: number
  /** Entries per read. Choose a small number if each may be large. */
  readonly mostAtOnce?: number
}

/** Collects a page of matching entries, the newest first. */
export async function scanPage<Entry extends Placed, Item>(scan: Scan<Entry, Item>): Promise<Page<Item>> {
  const found: { readonly item: Item; readonly since: string }[] = []
  let { before } = scan
  const { mostScanned = 1_000, mostAtOnce = 128 } = scan
  let last: Entry | undefined
  let scanned = 0
  // One item more than the limit shows whether there is another page. The reads grow, for lists where few entries match.
  for (let count = scan.limit + 1; found.length <= scan.limit && scanned < mostScanned; ) {
    const entries = await scan.entriesBefore(before, count)
    const items = await scan.load(entries)
    found.push(...entries.flatMap(({ since }, i) => (items[i] === undefined ? [] : [{ item: items[i], since }])))
    last = entries.length < count ? undefined : entries.at(-1)
    if (last === undefined) break
    before = `(${last.since}`
    scanned += count
    count = Math.min(2 * count, mostAtOnce)
  }
  const end = found.length > scan.limit ? found[scan.limit - 1]?.since : last?.since
  const items = found.slice(0, scan.limit).map(({ item }) => item)
  return { items, nextCursor: end === undefined ? null : scan.cursors.of(end) }
}

/** How a page of a list that is sorted by time in µs is read. @throws AppError as `ListCursor.parse` */
export const readingOf = (
  redis: Redis,
  key: string,
  cursors: ListCursor,
  { limit, cursor, fromMs, toMs }: RangeQuery,
): Reading<ScoredEntry> => ({
  limit,
  cursors,
  before: upperBound(cursor === undefined ? undefined : cursors.parse(cursor), toMs),
  entriesBefore: (before, count) => newestEntries(redis, key, { before, from: lowerBound(fromMs), count }),
})

/** The lowest score (µs) of a page that begins at a time in ms since 1970. */
export const lowerBound = (fromMs: number | undefined): string =>
  fromMs === undefined ? '-inf' : String(fromMs * 1_000)

/** The score (µs) below which a page begins: the end of the previous page or of the time range, whichever is lower. */
export function upperBound(end: string | undefined, toMs: number | undefined): string {
  const ends = [...(end === undefined ? [] : [Number(end)]), ...(toMs === undefined ? [] : [toMs * 1_000])]
  return ends.length === 0 ? '+inf' : `(${Math.min(...ends)}`
}

/** A member of a sorted set with its score, as Redis formats it. */
export interface ScoredEntry {
  readonly member: string
  readonly since: string
}

/** Reads part of a list sorted by time, the newest first. @param before, from scores in the syntax of Redis, like `(12` */
export async function newestEntries(
  redis: Redis,
  key: string,
  { before, from, count }: { readonly before: string; readonly from: string; readonly count: number },
): Promise<ScoredEntry[]> {
  const reply = await redis[run]((commands) =>
    commands.zrevrangebyscore(key, before, from, 'WITHSCORES', 'LIMIT', 0, count),
  )
  return scoredEntries(reply)
}

/** Parses a reply WITHSCORES, which alternates members and scores. */
export const scoredEntries = (reply: readonly string[]): ScoredEntry[] =>
  Array.from({ length: reply.length / 2 }, (_, i) => ({ member: reply[2 * i] ?? '', since: reply[2 * i + 1] ?? '' }))
