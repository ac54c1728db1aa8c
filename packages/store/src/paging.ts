import { AppError } from '@switchhook/contracts'
import { execute, type Redis } from './redis/redis.ts'

export interface PageQuery {
  readonly limit: number
  readonly cursor?: string
}

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

/** Part of a list that is sorted by time. The bounds are scores (µs) in the syntax of Redis, like `(12`. */
export interface ListPart {
  readonly before: string
  readonly from: string
  readonly count: number
}

type ListCursor = ReturnType<typeof createListCursor>

/** Converts a place in a list to the opaque text that clients see, and back. @param kind keeps kinds of lists apart */
export const createListCursor = (kind: string, place: RegExp) => ({
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
})

/** For a list that is sorted by time in µs: a place is the score, as Redis formats it. */
export const createTimeCursor = (kind: string) => createListCursor(kind, /^\d{1,16}$/)

/** Converts a time in µs, as Redis formats the score, to ISO 8601, UTC. */
export const isoTime = (since: string): string => new Date(Math.floor(Number(since) / 1_000)).toISOString()

/** Of the items of a page, as JSON. A page ends with the item that reaches it. */
const MAX_PAGE_BYTES = 1_024 * 1_024

/** Counts the items of a page. Its function adds one, and returns whether there is room for another. */
export function createPageRoom(limit: number): (item: unknown) => boolean {
  let left = limit
  let bytesLeft = MAX_PAGE_BYTES
  return (item) => {
    left -= 1
    bytesLeft -= Buffer.byteLength(JSON.stringify(item))
    return left > 0 && bytesLeft > 0
  }
}

interface Listing<Entry> {
  readonly limit: number
  /** From the beginning of the page on, a part at a time. */
  readonly entries: AsyncIterable<readonly Entry[]> | Iterable<readonly Entry[]>
  /** The cursor of a page that ends with this entry. */
  readonly cursorOf: (end: Entry) => string
}

/**
 * Collects the items of a page.
 * @param load resolves to one item per entry; undefined if the entry does not belong on the page
 * @param mostScanned bounds the cost of a page of rare items. Such a page may be short without being the last.
 */
export async function collectPage<Entry, Item>(
  { limit, entries, cursorOf }: Listing<Entry>,
  load: (entries: readonly Entry[]) => Promise<readonly (Item | undefined)[]>,
  mostScanned = 1_000,
): Promise<Page<Item>> {
  const items: Item[] = []
  const add = createPageRoom(limit)
  let hasRoom = true
  let end: Entry | undefined
  let scanned = 0
  for await (const some of entries) {
    const loaded = await load(some)
    for (const [i, entry] of some.entries()) {
      const item = loaded[i]
      // Only a further item shows that there is another page.
      if (item !== undefined && !hasRoom && end !== undefined) return { items, nextCursor: cursorOf(end) }
      if (item !== undefined) {
        items.push(item)
        hasRoom = add(item)
      }
      end = entry
    }
    scanned += some.length
    if (end !== undefined && scanned >= mostScanned) return { items, nextCursor: cursorOf(end) }
  }
  return { items, nextCursor: null }
}

/**
 * Reads the entries below a score or id, the newest first. The reads grow, for lists where few entries match.
 * @param limit one entry more shows whether there is another page
 */
export async function* entriesBelow<Entry extends Pick<ScoredEntry, 'since'>>(
  before: string,
  limit: number,
  read: (before: string, count: number) => Promise<readonly Entry[]>,
  mostAtOnce = 128,
): AsyncGenerator<readonly Entry[], void> {
  for (let [below, count] = [before, limit + 1]; ; count = Math.min(2 * count, mostAtOnce)) {
    const entries = await read(below, count)
    const last = entries.at(-1)
    if (last !== undefined) yield entries
    if (last === undefined || entries.length < count) return
    below = `(${last.since}`
  }
}

/** A list that is sorted by time in µs, the newest first. @throws AppError as `ListCursor.parse` */
export const timeListing = <Entry extends Pick<ScoredEntry, 'since'>>(
  read: (part: ListPart) => Promise<readonly Entry[]>,
  cursors: ListCursor,
  { limit, cursor, fromMs, toMs }: RangeQuery,
  mostAtOnce?: number,
): Listing<Entry> => ({
  limit,
  entries: entriesBelow(
    upperBound(cursor === undefined ? undefined : cursors.parse(cursor), toMs),
    limit,
    (before, count) => read({ before, from: lowerBound(fromMs), count }),
    mostAtOnce,
  ),
  cursorOf: ({ since }) => cursors.of(since),
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
export type ScoredEntry = ReturnType<typeof scoredEntries>[number]

/** Reads part of a list sorted by time, the newest first. */
export async function newestEntries(redis: Redis, key: string, { before, from, count }: ListPart) {
  const reply = await redis[execute]((commands) =>
    commands.zrevrangebyscore(key, before, from, 'WITHSCORES', 'LIMIT', 0, count),
  )
  return scoredEntries(reply)
}

/** Parses a reply WITHSCORES, which alternates members and scores. */
export const scoredEntries = (reply: readonly string[]) =>
  Array.from({ length: reply.length / 2 }, (_, i) => ({ member: reply[2 * i] ?? '', since: reply[2 * i + 1] ?? '' }))
