import { inChunks } from '../redis/in-chunks.ts'

export interface MergeEntry {
  readonly list: string
  /** A time in µs, as Redis formats it; unique within its list. */
  readonly since: string
}

/** Part of a list, the newest entry first. */
export interface Chunk<Entry extends MergeEntry> {
  readonly entries: readonly Entry[]
  /** The list has no older entries in the range. */
  readonly isEnd: boolean
}

/** The newest first; entries of the same time by list. Thus every entry has a place of its own. */
export const byPlace = (a: MergeEntry, b: MergeEntry): number =>
  Number(b.since) - Number(a.since) || (a.list < b.list ? -1 : Number(a.list > b.list))

/** Entries that the first reads take over all lists, and at least from each. */
const AT_FIRST = 512
const MIN_PER_LIST = 4
/** Entries that a later read takes from the one list that it continues. */
const LATER = 64

/**
 * Yields the entries of all lists, the newest first, in batches. Reads each list once, and later only the lists that the
 * merge has used up, so the number of reads grows with the entries that the caller takes.
 * @param read `before` is the exclusive upper end, undefined for the beginning
 */
export async function* mergeLists<Entry extends MergeEntry>(
  lists: readonly Entry['list'][],
  read: (list: Entry['list'], before: string | undefined, count: number) => Promise<Chunk<Entry>>,
): AsyncGenerator<readonly Entry[], void> {
  const count = Math.max(MIN_PER_LIST, Math.ceil(AT_FIRST / Math.max(1, lists.length)))
  let chunks = await inChunks(lists, (list) => read(list, undefined, count))
  for (;;) {
    const { known, rest, usedUp } = mergeChunks(chunks)
    yield known
    if (usedUp.length + rest.length === 0) return
    chunks = [...rest, ...(await inChunks(usedUp, ({ list, since }) => read(list, since, LATER)))]
  }
}

/** `known`: certainly the newest ones. A list whose chunk ends may go on with newer entries than another one has. */
function mergeChunks<Entry extends MergeEntry>(chunks: readonly Chunk<Entry>[]) {
  const open = chunks.filter(({ isEnd }) => !isEnd)
  const watermark = Math.max(...open.map(({ entries }) => Number(entries.at(-1)?.since)), -Infinity)
  const isKnown = ({ since }: Entry): boolean => Number(since) >= watermark
  const rest = chunks
    .map(({ entries, isEnd }) => ({ entries: entries.filter((entry) => !isKnown(entry)), isEnd }))
    .filter(({ entries }) => entries.length > 0)
  const usedUp = open.flatMap(({ entries }) => {
    const last = entries.at(-1)
    return last !== undefined && isKnown(last) ? [last] : []
  })
  return { known: chunks.flatMap(({ entries }) => entries.filter(isKnown)).toSorted(byPlace), rest, usedUp }
}
