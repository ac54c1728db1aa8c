import type { Tenant } from '@switchhook/contracts'
import type { StoredRecord } from '../platform.ts'
import type { PbxMemory, StorageChange } from '../storage.ts'

type Due = (timer: { readonly tenant: Tenant; readonly payload: unknown }) => Promise<void>

/** A memory with real timers, shared by the replicas of a test. */
export class RealTimeMemory implements PbxMemory {
  /** Receives the timers that are due; undefined: no process runs. */
  due: Due | undefined
  /** If set, every access rejects with it. */
  outage: Error | undefined
  /** How many times `read` rejected because of the outage. */
  refusedReads = 0
  #records = new Map<string, StoredRecord & { readonly tenant: Tenant; readonly key: string }>()
  #listed = new Set<string>()
  #timers = new Map<string, NodeJS.Timeout>()
  #leases = new Map<string, { readonly owner: string; readonly untilMs: number }>()

  async read(tenant: Tenant, keys: readonly string[]): Promise<readonly StoredRecord[]> {
    if (this.outage !== undefined) this.refusedReads += 1
    this.#requireAccess()
    return keys.map((key) =>
      structuredClone(this.#records.get(nameOf(tenant, key)) ?? { version: 0, value: undefined }),
    )
  }

  async write(tenant: Tenant, { records, timers }: StorageChange): Promise<'committed' | 'conflict'> {
    this.#requireAccess()
    const versionOf = (key: string): number => this.#records.get(nameOf(tenant, key))?.version ?? 0
    if (records.some(({ key, expectedVersion }) => versionOf(key) !== expectedVersion)) return 'conflict'
    for (const { key, expectedVersion, value, isListed } of records) {
      const name = nameOf(tenant, key)
      this.#records.set(name, { tenant, key, version: expectedVersion + 1, value: structuredClone(value) })
      if (isListed === true) this.#listed.add(name)
      else this.#listed.delete(name)
    }
    for (const { id, dueInMs, payload } of timers) this.#set(tenant, id, dueInMs, payload)
    return 'committed'
  }

  async list() {
    this.#requireAccess()
    return [...this.#listed].flatMap((name) => {
      const record = this.#records.get(name)
      return record === undefined ? [] : [{ tenant: record.tenant, key: record.key }]
    })
  }

  async lease(name: string, owner: string, ttlMs: number): Promise<boolean> {
    this.#requireAccess()
    const held = this.#leases.get(name)
    if (held !== undefined && held.owner !== owner && held.untilMs > Date.now()) return false
    this.#leases.set(name, { owner, untilMs: Date.now() + ttlMs })
    return true
  }

  async release(name: string, owner: string): Promise<void> {
    if (this.#leases.get(name)?.owner === owner) this.#leases.delete(name)
  }

  /** Loses all records, or returns to an older state of them. */
  backUp(): () => void {
    const [records, listed] = [new Map(this.#records), new Set(this.#listed)]
    return () => {
      this.#records = new Map(records)
      this.#listed = new Set(listed)
    }
  }

  /** Clears all timers, so that they do not keep the test's process alive. */
  close(): void {
    this.due = undefined
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }

  #requireAccess(): void {
    if (this.outage !== undefined) throw this.outage
  }

  /** A timer is repeated until a process accepts it. */
  #set(tenant: Tenant, id: string, dueInMs: number, payload: unknown): void {
    const name = nameOf(tenant, id)
    clearTimeout(this.#timers.get(name))
    const fire = (): void => {
      this.#timers.delete(name)
      const due = this.due
      if (due === undefined) return this.#set(tenant, id, AGAIN_MS, payload)
      due({ tenant, payload }).catch(() => this.due && this.#set(tenant, id, AGAIN_MS, payload))
    }
    this.#timers.set(name, setTimeout(fire, dueInMs).unref())
  }
}

const AGAIN_MS = 100

const nameOf = (tenant: Tenant, name: string): string => JSON.stringify([tenant, name])
