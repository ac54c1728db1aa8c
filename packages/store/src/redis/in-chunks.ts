/** With three commands per item, a chunk takes the process one to two milliseconds. */
const CHUNK = 32

/** Reads one result per item, a chunk at a time: hundreds of concurrent commands would block the process for long. */
export async function inChunks<Item, Result>(
  items: readonly Item[],
  read: (item: Item) => Promise<Result>,
  size = CHUNK,
): Promise<Result[]> {
  const results: Result[] = []
  for (const some of chunksOf(items, size)) results.push(...(await Promise.all(some.map(read))))
  return results
}

export function* chunksOf<Item>(items: readonly Item[], size: number): Generator<readonly Item[], void> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size)
}

interface Size {
  readonly count: number
  readonly bytes: number
}

/** Divides items into as few chunks as possible, in their order. Only a single item can exceed the limits. */
export function* chunksWithin<Item>(limits: Size, items: readonly Item[], sizeOf: (item: Item) => Size) {
  let chunk: Item[] = []
  let [count, bytes] = [0, 0]
  for (const item of items) {
    const more = sizeOf(item)
    if (chunk.length > 0 && (count + more.count > limits.count || bytes + more.bytes > limits.bytes)) {
      yield chunk
      ;[chunk, count, bytes] = [[], 0, 0]
    }
    chunk.push(item)
    count += more.count
    bytes += more.bytes
  }
  if (chunk.length > 0) yield chunk
}
