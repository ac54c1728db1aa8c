import type { Tenant } from '@switchhook/contracts'
import type { AdapterStorage, RecordChange } from '../../storage.ts'

/** `ttlMs` 0: the record does not expire. */
export interface PbxRecordChange extends RecordChange {
  /** Whether `list` returns the key from now on. */
  readonly isListed: boolean
}

/** The storage of the Asterisk adapter. */
export interface PbxMemory extends AdapterStorage<PbxRecordChange> {
  /** The listed records of all tenants. A key may be returned whose record is gone; none is ever left out. */
  list(): Promise<readonly { readonly tenant: Tenant; readonly key: string }[]>
  /** Takes or prolongs a lease. False: another owner has it. */
  lease(name: string, owner: string, ttlMs: number): Promise<boolean>
  /** Gives a lease back; nothing if another owner has it. */
  release(name: string, owner: string): Promise<void>
}
