import type { MemoryChange, Remembered, SimulatorMemory } from '../simulator/storage.ts'

interface SetTimer {
  readonly id: string
  readonly tenant: string | null
  readonly dueAtMs: number
  readonly payload: unknown
}

/** A memory with a clock that only a test moves: conflicts and timers as the real one has them, and no waiting. */
export class VirtualMemory implements SimulatorMemory {
  nowMs = Date.UTC(2026, 0, 1)
  /** Set: every access fails with it. */
  outage: Error | undefined
  #records = new Map<string, Remembered>()
  #timers = new Map<string, SetTimer>()

  async read(tenant: string | null, keys: readonly string[]): Promise<readonly Remembered[]> {
    if (this.outage !== undefined) throw this.outage
    return keys.map((key) =>
      structuredClone(this.#records.get(nameOf(tenant, key)) ?? { version: 0, value: undefined }),
    )
  }

  async write(tenant: string | null, { records, timers }: MemoryChange): Promise<'committed' | 'conflict'> {
    if (this.outage !== undefined) throw this.outage
    const versionOf = (key: string): number => this.#records.get(nameOf(tenant, key))?.version ?? 0
    if (records.some(({ key, expectedVersion }) => versionOf(key) !== expectedVersion)) return 'conflict'
    for (const { key, expectedVersion, value } of records) {
      this.#records.set(nameOf(tenant, key), { version: expectedVersion + 1, value: structuredClone(value) })
    }
    for (const { id, dueInMs, payload } of timers) {
      this.#timers.set(nameOf(tenant, id), { id, tenant, dueAtMs: this.nowMs + dueInMs, payload })
    }
    return 'committed'
  }

  /** The result puts records and timers back as they are now, as a Redis does that comes back from an older file. */
  backUp(): () => void {
    const records = new Map(this.#records)
    const timers = new Map(this.#timers)
    return () => {
      this.#records = new Map(records)
      this.#timers = new Map(timers)
    }
  }

  /** Moves the clock from one timer to the next, and hands each to `due`, until so long has passed. */
  async pass(ms: number, due: (timer: { tenant: string | null; payload: unknown }) => Promise<void>): Promise<void> {
    const end = this.nowMs + ms
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.nowMs = Math.max(this.nowMs, next.dueAtMs)
      this.#timers.delete(nameOf(next.tenant, next.id))
      await due(next)
    }
    this.nowMs = end
  }

  #next(end: number): SetTimer | undefined {
    const [first] = [...this.#timers.values()].toSorted((a, b) => a.dueAtMs - b.dueAtMs)
    return first !== undefined && first.dueAtMs <= end ? first : undefined
  }
}

const nameOf = (tenant: string | null, name: string): string => JSON.stringify([tenant, name])
