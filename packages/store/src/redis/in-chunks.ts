/** With three commands per item, a chunk takes the process one to two milliseconds. */
const CHUNK = 32

/**
 * Reads one result per item, a chunk at a time and in the order of the items. Hundreds of concurrent commands would keep the
 * process from its other requests for tens of milliseconds.
 * @param size items of one chunk; choose a small number if each takes many commands
 */
export async function inChunks<Item, Result>(
  items: readonly Item[],
  read: (item: Item) => Promise<Result>,
  size = CHUNK,
): Promise<Result[]> {
  const results: Result[] = []
  for (let at = 0; at < items.length; at += size) {
    results.push(...(await Promise.all(items.slice(at, at + size).map(read))))
  }
  return results
}
