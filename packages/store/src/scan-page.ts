/** What stands at one place of a list; no two of a list have the same place. */
interface Placed {
  /** In µs, or the id of an entry of a stream; the newest highest. */
  readonly since: string
}

export interface Scan<Entry extends Placed, Item> {
  readonly limit: number
  /** Where to begin: below this score, or id, as Redis writes it. */
  readonly before: string
  readonly entriesBefore: (before: string, count: number) => Promise<readonly Entry[]>
  /** undefined: does not belong into the page. One for each entry. */
  readonly load: (entries: readonly Entry[]) => Promise<readonly (Item | undefined)[]>
  /** So that a page of what is rare in a long list costs little; such a page is short, and is not the last. */
  readonly mostScanned?: number
  /** Read in one go: few, where each may be large. */
  readonly mostAtOnce?: number
}

export interface ScannedPage<Item> {
  readonly items: readonly Item[]
  /** The place at which the page ends; undefined: there is nothing after it. */
  readonly end: string | undefined
}

/** Collects a page of those entries of a list that belong into it, the newest first. */
export async function scanPage<Entry extends Placed, Item>(scan: Scan<Entry, Item>): Promise<ScannedPage<Item>> {
  const found: { readonly item: Item; readonly since: string }[] = []
  let { before } = scan
  const { mostScanned = 1_000, mostAtOnce = 128 } = scan
  let last: Entry | undefined
  let scanned = 0
  // One more than asked for tells whether there is another page. Where little belongs into it, more is read at a time.
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
  return { items: found.slice(0, scan.limit).map(({ item }) => item), end }
}

/** The score, in µs, from which on entries belong into a list; a time is in ms since 1970. */
export const lowerBound = (fromMs: number | undefined): string =>
  fromMs === undefined ? '-inf' : String(fromMs * 1_000)

/** The score below which they do: that of the end of the page before, or of the end of the time, whichever is lower. */
export function upperBound(end: string | undefined, toMs: number | undefined): string {
  const ends = [...(end === undefined ? [] : [Number(end)]), ...(toMs === undefined ? [] : [toMs * 1_000])]
  return ends.length === 0 ? '+inf' : `(${Math.min(...ends)}`
}
