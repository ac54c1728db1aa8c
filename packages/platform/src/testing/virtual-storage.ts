import type { Tenant } from '@switchhook/contracts'
import type { StoredRecord } from '../platform.ts'
import type { AdapterStorage, StorageChange } from '../storage.ts'

interface Timer {
  readonly id: string
  readonly tenant: Tenant
  readonly dueAtMs: number
  readonly payload: unknown
}

/** A storage in memory with the conflicts and timers of the real one, and a clock that only the test moves. */
export class VirtualStorage implements AdapterStorage {
  nowMs = Date.UTC(2026, 0, 1)
  /** If set, every access rejects with it. */
  outage: Error | undefined
  #records = new Map<string, StoredRecord>()
  #timers = new Map<string, Timer>()

  async read(tenant: Tenant, keys: readonly string[]): Promise<readonly StoredRecord[]> {
    if (this.outage !== undefined) throw this.outage
    return keys.map((key) =>
      structuredClone(this.#records.get(nameOf(tenant, key)) ?? { version: 0, value: undefined }),
    )
  }

  async write(tenant: Tenant, { records, timers }: StorageChange): Promise<'committed' | 'conflict'> {
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

  /** Returns a function that restores the present records and timers, like a Redis that loads an older file. */
  backUp(): () => void {
    const records = new Map(this.#records)
    const timers = new Map(this.#timers)
    return () => {
      this.#records = new Map(records)
      this.#timers = new Map(timers)
    }
  }

  /** Moves the clock forward by `ms`, and calls `due` with each timer at its time. */
  async advance(ms: number, due: (timer: { tenant: Tenant; payload: unknown }) => Promise<void>): Promise<void> {
    const end = this.nowMs + ms
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.nowMs = Math.max(this.nowMs, next.dueAtMs)
      this.#timers.delete(nameOf(next.tenant, next.id))
      await due(next)
    }
    this.nowMs = end
  }

  #next(end: number): Timer | undefined {
    const [first] = [...this.#timers.values()].toSorted((a, b) => a.dueAtMs - b.dueAtMs)
    return first !== undefined && first.dueAtMs <= end ? first : undefined
  }
}

const nameOf = (tenant: Tenant, name: string): string => JSON.stringify([tenant, name])
