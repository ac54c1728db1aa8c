/** Work with the same key runs in order, other work concurrently. */
export interface Lanes {
  run<T>(key: string, work: () => Promise<T>): Promise<T>
  /** Resolves when no work is left. */
  idle(): Promise<void>
}

export function createLanes(): Lanes {
  const last = new Map<string, Promise<unknown>>()
  return {
    async run(key, work) {
      const before = last.get(key)
      const mine = before === undefined ? work() : before.then(work, work)
      last.set(key, mine)
      try {
        return await mine
      } finally {
        if (last.get(key) === mine) last.delete(key)
      }
    },
    async idle() {
      while (last.size > 0) await Promise.allSettled(last.values())
    },
  }
}
