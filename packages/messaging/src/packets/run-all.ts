/** What a failure has left. */
export interface Unfinished<Item> {
  readonly error: unknown
  /** The items that failed. */
  readonly left: readonly Item[]
}

/** Runs `work` for every item and awaits all of them, so that the caller can repeat only what failed. Undefined: nothing did. */
export async function runAll<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<Unfinished<Item> | undefined> {
  const results = await Promise.allSettled(items.map(work))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed === undefined) return undefined
  return { error: failed.reason, left: items.filter((_, at) => results[at]?.status === 'rejected') }
}
