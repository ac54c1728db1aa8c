import type { Tenant } from '@switchhook/contracts'
import type { AdapterStorage, StorageChange, StoredRecord } from '@switchhook/platform'

export type Timer = StorageChange['timers'][number]

interface Kept extends StoredRecord {
  readonly tenant: Tenant
  readonly key: string
  readonly isListed: boolean
}

/** Records in memory, with the conflicts of the real storage. */
export abstract class MemoryStorage implements AdapterStorage {
  /** If set, every access rejects with it. */
  outage: Error | undefined
  /** How many times `read` rejected because of the outage. */
  refusedReads = 0
  protected records = new Map<string, Kept>()

  protected abstract setTimer(tenant: Tenant, timer: Timer): void

  async read(tenant: Tenant, keys: readonly string[]): Promise<readonly StoredRecord[]> {
    if (this.outage !== undefined) this.refusedReads += 1
    this.requireAccess()
    return keys.map((key) => {
      const { version, value } = this.records.get(nameOf(tenant, key)) ?? { version: 0, value: undefined }
      return { version, value: structuredClone(value) }
    })
  }

  async write(tenant: Tenant, { records, timers }: StorageChange): Promise<'committed' | 'conflict'> {
    this.requireAccess()
    const versionOf = (key: string): number => this.records.get(nameOf(tenant, key))?.version ?? 0
    if (records.some(({ key, expectedVersion }) => versionOf(key) !== expectedVersion)) return 'conflict'
    for (const { key, expectedVersion, value, isListed = false } of records) {
      const kept = { tenant, key, version: expectedVersion + 1, value: structuredClone(value), isListed }
      this.records.set(nameOf(tenant, key), kept)
    }
    for (const timer of timers) this.setTimer(tenant, timer)
    return 'committed'
  }

  /** Returns a function that restores the present records, like a Redis that loads an older file. */
  backUp(): () => void {
    const records = new Map(this.records)
    return () => void (this.records = new Map(records))
  }

  protected requireAccess(): void {
    if (this.outage !== undefined) throw this.outage
  }
}

export const nameOf = (tenant: Tenant, name: string): string => JSON.stringify([tenant, name])
