export interface BatchOptions<Item, Written> {
  /** How long the first item waits for others. */
  readonly waitMs: number
  /** From this weight on the items do not wait, so that a burst does not grow the memory. */
  readonly maxWeight: number
  /** Absent: each item weighs 1. */
  readonly weightOf?: (item: Item) => number
  readonly write: (items: readonly Item[]) => Written
}

/** Gathers items, so that they share one write. The wait does not keep the process alive: flush at its end. */
export function createBatch<Item, Written>(options: BatchOptions<Item, Written>) {
  const { waitMs, maxWeight, weightOf = () => 1, write } = options
  let items: Item[] = []
  let weight = 0
  let timer: NodeJS.Timeout | undefined

  /** Writes the gathered items now. Undefined: there are none. */
  function flush(): Written | undefined {
    clearTimeout(timer)
    timer = undefined
    const gathered = items
    items = []
    weight = 0
    return gathered.length > 0 ? write(gathered) : undefined
  }

  return {
    add: (item: Item): void => {
      items.push(item)
      weight += weightOf(item)
      if (weight >= maxWeight) flush()
      // oxlint-disable-next-line no-restricted-globals -- gathers items: no answer is awaited
      else timer ??= setTimeout(flush, waitMs).unref()
    },
    flush,
  }
}
