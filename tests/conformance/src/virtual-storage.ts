import type { Tenant } from '@switchhook/contracts'
import { MemoryStorage, nameOf, type Timer } from './memory-storage.ts'

interface WaitingTimer extends Timer {
  readonly tenant: Tenant
  readonly dueAtMs: number
}

/** A storage in memory with the conflicts and timers of the real one, and a clock that only the test moves. */
export class VirtualStorage extends MemoryStorage {
  nowMs = Date.UTC(2026, 0, 1)
  #timers = new Map<string, WaitingTimer>()

  protected override setTimer(tenant: Tenant, timer: Timer): void {
    this.#timers.set(nameOf(tenant, timer.id), { ...timer, tenant, dueAtMs: this.nowMs + timer.dueInMs })
  }

  override backUp(): () => void {
    const restoreRecords = super.backUp()
    const timers = new Map(this.#timers)
    return () => {
      restoreRecords()
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

  #next(end: number): WaitingTimer | undefined {
    const [first] = [...this.#timers.values()].toSorted((a, b) => a.dueAtMs - b.dueAtMs)
    return first !== undefined && first.dueAtMs <= end ? first : undefined
  }
}
