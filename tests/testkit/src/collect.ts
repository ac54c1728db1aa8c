/** All items of a list that comes in parts. */
export async function collect<Item>(parts: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  const all: Item[] = []
  for await (const part of parts) all.push(...part)
  return all
}
