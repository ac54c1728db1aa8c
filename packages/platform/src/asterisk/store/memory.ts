import type { Tenant } from '@switchhook/contracts'
/** A stored record; version 0: there is none. */
export interface PbxRecord {
  readonly version: number
  readonly value: unknown
}

export interface PbxChange {
  readonly records: readonly {
    readonly key: string
    /** 0: there must be none. */
    readonly expectedVersion: number
    readonly value: unknown
    /** The record expires after this time. 0: never. */
    readonly ttlMs: number
    /** Whether `list` returns the key from now on. */
    readonly isListed: boolean
  }[]
  /** A timer with an id that is already set replaces it. Timers outlive this process: `AsteriskPlatform.due`. */
  readonly timers: readonly { readonly id: string; readonly dueInMs: number; readonly payload: unknown }[]
}

/** The storage of the adapter, shared by all replicas. It survives the process. */
export interface PbxMemory {
  /** In the order of the keys, all of one moment. */
  read(tenant: Tenant, keys: readonly string[]): Promise<readonly PbxRecord[]>
  /**
   * All or nothing; `conflict`, and nothing, if a record has another version. A write that fails may have happened, unless it
   * rejects with Unavailable whose `fate` is `not-executed`.
   */
  write(tenant: Tenant, change: PbxChange): Promise<'committed' | 'conflict'>
  /** The listed records of all tenants. A key may be returned whose record is gone; none is ever left out. */
  list(): Promise<readonly { readonly tenant: Tenant; readonly key: string }[]>
  /** Takes or prolongs a lease. False: another owner has it. */
  lease(name: string, owner: string, ttlMs: number): Promise<boolean>
  /** Gives a lease back; nothing if another owner has it. */
  release(name: string, owner: string): Promise<void>
}
