import { atSharedWake } from './shared-wake.ts'

export interface BatchOptions<Item, Written> {
  /** From this weight on the items do not wait, so that a burst does not grow the memory. */
  readonly maxWeight: number
  /** Absent: each item weighs 1. */
  readonly weightOf?: (item: Item) => number
  readonly write: (items: readonly Item[]) => Written
}

/** Gathers items until the next shared wake-up, so that they share one write. Flush at the end of the process. */
export function createBatch<Item, Written>(options: BatchOptions<Item, Written>) {
  const { maxWeight, weightOf = () => 1, write } = options
  let items: Item[] = []
  let weight = 0
  let isWaiting = false

  /** Writes the gathered items now. Undefined: there are none. */
  function flush(): Written | undefined {
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
      else if (!isWaiting) {
        isWaiting = true
        atSharedWake(() => {
          isWaiting = false
          flush()
        })
      }
    },
    flush,
  }
}
