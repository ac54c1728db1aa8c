/** Runs work with the same key in order, and other work concurrently. */
export function createKeyedQueue() {
  const last = new Map<string, Promise<unknown>>()
  return {
    async run<T>(key: string, work: () => Promise<T>): Promise<T> {
      const before = last.get(key)
      const mine = before === undefined ? work() : before.then(work, work)
      last.set(key, mine)
      try {
        return await mine
      } finally {
        if (last.get(key) === mine) last.delete(key)
      }
    },
    /** Resolves when no work is left. */
    async idle(): Promise<void> {
      while (last.size > 0) await Promise.allSettled(last.values())
    },
  }
}
