import { getOrCreate } from '@switchhook/runtime'

/** Deliveries by which a key may be ahead of the others when it is let in next. */
const QUANTUM = 20

export type FairSemaphore<Key> = ReturnType<typeof createFairSemaphore<Key>>

/**
 * A semaphore that lets waiting keys in by deficit round robin: a key whose work made many deliveries waits while the other
 * keys catch up. Keys that wait at different times do not owe each other anything.
 */
export function createFairSemaphore<Key>(limit: number, options: { readonly isOpen?: boolean } = {}) {
  const waiting = new Map<Key, ((isLetIn: boolean) => void)[]>()
  /** In deliveries. */
  const debts = new Map<Key, number>()
  let { isOpen = true } = options
  let isStopping = false
  let inUse = 0

  const hasRoom = (): boolean => isOpen && inUse < limit

  function acquire(key: Key): Promise<boolean> | boolean {
    if (isStopping) return false
    if (waiting.size > 0 || !hasRoom()) {
      return new Promise((resolve) => void getOrCreate(waiting, key, () => []).push(resolve))
    }
    inUse += 1
    return true
  }

  /** Goes round the keys: each pays off a quantum of its debt, and is let in once it has none. */
  function letIn(): void {
    for (const [key, line] of waiting) {
      if (!hasRoom()) break
      const debt = (debts.get(key) ?? 0) - QUANTUM
      debts.set(key, Math.max(0, debt))
      // Moves the key to the end of the map, and so of this loop.
      waiting.delete(key)
      if (debt <= 0) {
        inUse += 1
        line.shift()?.(true)
      }
      if (line.length > 0) waiting.set(key, line)
    }
    if (waiting.size === 0) debts.clear()
  }

  function endWaitsOf(key: Key): void {
    const line = waiting.get(key) ?? []
    waiting.delete(key)
    for (const end of line) end(false)
    if (waiting.size === 0) debts.clear()
  }

  function endWaits(): void {
    for (const key of waiting.keys()) endWaitsOf(key)
  }

  return {
    isWaiting: (key: Key): boolean => waiting.has(key),
    hasWork: (): boolean => inUse > 0 || waiting.size > 0,
    /**
     * Runs the work once its key is let in, and adds the deliveries that it has made to the key's debt. false: it did not
     * run, because its wait was ended by `endWaits`, `endWaitsOf` or `stop`.
     */
    async run(key: Key, work: () => Promise<number>): Promise<boolean> {
      if (!(await acquire(key))) return false
      try {
        const deliveries = await work()
        if (waiting.size > 0) debts.set(key, (debts.get(key) ?? 0) + deliveries)
        return true
      } finally {
        inUse -= 1
        letIn()
      }
    },
    /** While closed, it lets nothing in. */
    setOpen(isNowOpen: boolean): void {
      isOpen = isNowOpen
      letIn()
    },
    /** Ends every wait. */
    endWaits,
    /** Ends the waits of one key. */
    endWaitsOf,
    /** Ends every wait, and all later ones. */
    stop(): void {
      isStopping = true
      endWaits()
    },
  }
}
