/** @param map its values are never undefined */
export function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const present = map.get(key)
  if (present !== undefined) return present
  const created = create()
  map.set(key, created)
  return created
}

/** Runs work that has a key in common in order, and other work concurrently. */
export function createKeyedQueue() {
  const last = new Map<string, Promise<unknown>>()
  return {
    async run<T>(key: string | readonly string[], work: () => Promise<T>): Promise<T> {
      const keys = [key].flat()
      const before = keys.flatMap((one) => last.get(one) ?? [])
      const mine = before.length === 0 ? work() : Promise.allSettled(before).then(work)
      // All at once: two runs of the same keys never wait for each other.
      for (const one of keys) last.set(one, mine)
      try {
        return await mine
      } finally {
        for (const one of keys) if (last.get(one) === mine) last.delete(one)
      }
    },
    /** Resolves when no work is left. */
    async idle(): Promise<void> {
      while (last.size > 0) await Promise.allSettled(last.values())
    },
  }
}
