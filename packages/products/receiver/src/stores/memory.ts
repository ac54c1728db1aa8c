import { compare, KEPT_MS, type Position, type Store } from '../store.ts'

interface MemoryTransaction {
  /** What the end of the work keeps. */
  readonly positions: [subject: string, position: Position][]
}

/** Marks, and positions, that are kept at most; the oldest are dropped first. */
const MAX_KEPT = 100_000

/** Keeps everything in this process, for tests and trials: after a restart, a repeated delivery is handled again. */
export function memoryStore(): Store<MemoryTransaction> {
  const done = createKept<true>()
  const latest = createKept<Position>()
  const running = new Set<string>()

  return {
    async once(id, work) {
      if (done.get(id)) return 'already'
      if (running.has(id)) return 'busy'
      running.add(id)
      try {
        const positions: MemoryTransaction['positions'] = []
        await work({ positions })
        for (const [subject, position] of positions) latest.set(subject, position)
        done.set(id, true)
        return 'done'
      } finally {
        running.delete(id)
      }
    },
    async advance({ positions }, subject, position) {
      const advance = compare(latest.get(subject), position)
      if (advance.newer) positions.push([subject, position])
      return advance
    },
  }
}

function createKept<Value>() {
  const entries = new Map<string, { readonly value: Value; readonly untilMs: number }>()
  return {
    get: (key: string): Value | undefined => entries.get(key)?.value,
    set(key: string, value: Value): void {
      // A map keeps the order of insertion, so the oldest entries come first.
      entries.delete(key)
      entries.set(key, { value, untilMs: Date.now() + KEPT_MS })
      for (const [oldest, { untilMs }] of entries) {
        if (entries.size <= MAX_KEPT && untilMs > Date.now()) break
        entries.delete(oldest)
      }
    },
  }
}
