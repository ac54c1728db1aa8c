import type { Tenant } from '@switchhook/contracts'
import type { PbxMemory } from '@switchhook/platform'
import { MemoryStorage, nameOf, type Timer } from './memory-storage.ts'

/** A memory with real timers, shared by the replicas of a test. */
export class RealTimeMemory extends MemoryStorage implements PbxMemory {
  /** Receives the timers that are due; undefined: no process runs. */
  due: ((timer: { readonly tenant: Tenant; readonly payload: unknown }) => Promise<void>) | undefined
  #timers = new Map<string, NodeJS.Timeout>()
  #leases = new Map<string, { readonly owner: string; readonly untilMs: number }>()

  async list() {
    this.requireAccess()
    return [...this.records.values()].filter(({ isListed }) => isListed)
  }

  async lease(name: string, owner: string, ttlMs: number): Promise<boolean> {
    this.requireAccess()
    const held = this.#leases.get(name)
    if (held !== undefined && held.owner !== owner && held.untilMs > Date.now()) return false
    this.#leases.set(name, { owner, untilMs: Date.now() + ttlMs })
    return true
  }

  async release(name: string, owner: string): Promise<void> {
    if (this.#leases.get(name)?.owner === owner) this.#leases.delete(name)
  }

  /** Clears all timers, so that they do not keep the test's process alive. */
  close(): void {
    this.due = undefined
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }

  /** A timer is repeated until a process accepts it. */
  protected override setTimer(tenant: Tenant, timer: Timer): void {
    const { id, dueInMs, payload } = timer
    const name = nameOf(tenant, id)
    clearTimeout(this.#timers.get(name))
    const again = (): void => this.setTimer(tenant, { ...timer, dueInMs: AGAIN_MS })
    const fire = (): void => {
      this.#timers.delete(name)
      const due = this.due
      if (due === undefined) return again()
      due({ tenant, payload }).catch(() => this.due && again())
    }
    this.#timers.set(name, setTimeout(fire, dueInMs).unref())
  }
}

const AGAIN_MS = 100
