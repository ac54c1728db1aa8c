import type { Tenant } from '@switchhook/contracts'
import type { KnownRecords, StoredRecord } from '../platform.ts'

/** Records and timers that are written together. */
export interface StorageChange {
  readonly records: readonly {
    readonly key: string
    /** 0: the record must not exist. */
    readonly expectedVersion: number
    readonly value: unknown
    readonly ttlMs: number
  }[]
  /**
   * A timer with a known id replaces it. When it is due, a replica calls `Simulator.due`, even if this process has
   * died.
   */
  readonly timers: readonly { readonly id: string; readonly dueInMs: number; readonly payload: unknown }[]
}

/**
 * What the simulator needs of a database. All its state is here, so that calls continue after a restart and any number
 * of replicas can run them together.
 */
export interface SimulatorStorage {
  /** In the order of the keys, all of one moment. */
  read(tenant: Tenant, keys: readonly string[]): Promise<readonly StoredRecord[]>
  /**
   * Writes everything, or nothing and resolves to `conflict` if a record has another version. A write that rejects may
   * have been executed, unless it rejects with Unavailable whose `fate` is `not-executed`.
   * @param known from the command that causes the change
   */
  write(tenant: Tenant, change: StorageChange, known?: KnownRecords): Promise<'committed' | 'conflict'>
}
