import type { Tenant } from '@switchhook/contracts'
import type { LiveCalls } from './live-calls.ts'
import type { KnownRecords, PlatformListener, StoredRecord } from './platform.ts'

export interface RecordChange {
  readonly key: string
  /** 0: the record must not exist. */
  readonly expectedVersion: number
  readonly value: unknown
  readonly ttlMs: number
}

/** Records and timers that are written together. */
export interface StorageChange<Change extends RecordChange = RecordChange> {
  readonly records: readonly Change[]
  /** A timer with a known id replaces it. When it is due, a replica calls the adapter's `due`, even if this process has died. */
  readonly timers: readonly { readonly id: string; readonly dueInMs: number; readonly payload: unknown }[]
}

/**
 * What an adapter needs of a database. All its state is here, so that calls continue after a restart and any number of
 * replicas can run them together.
 */
export interface AdapterStorage<Change extends RecordChange = RecordChange> {
  /** In the order of the keys, all of one moment. */
  read(tenant: Tenant, keys: readonly string[]): Promise<readonly StoredRecord[]>
  /**
   * Writes everything, or nothing and resolves to `conflict` if a record has another version. A write that rejects may
   * have been executed, unless it rejects with Unavailable whose `fate` is `not-executed`.
   * @param known from the command that causes the change
   */
  write(tenant: Tenant, change: StorageChange<Change>, known?: KnownRecords): Promise<'committed' | 'conflict'>
}

/** What the parts of both adapters get from the process. */
export interface Surroundings {
  readonly liveCalls: LiveCalls
  /** Undefined before the start of the adapter and after its stop. */
  readonly listener: () => PlatformListener | undefined
  readonly onError: (message: string, error: unknown) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}
