import type { CallId, Tenant } from '@switchhook/contracts'
import type { CallGroup } from '../call-rules/call-group.ts'
import type { LiveCalls } from '../call-rules/live-calls.ts'
import type { KnownRecords, PlatformListener, StoredRecord } from '../platform.ts'

export interface RecordChange {
  readonly key: string
  /** 0: the record must not exist. */
  readonly expectedVersion: number
  readonly value: unknown
  /** 0: the record does not expire. */
  readonly ttlMs: number
  /** Whether `PbxMemory.list` returns the key from now on. Absent: it does not. */
  readonly isListed?: boolean
}

export interface StorageChange {
  readonly records: readonly RecordChange[]
  /** A timer with a known id replaces it. When it is due, a replica calls the adapter's `due`, even if this process has died. */
  readonly timers: readonly { readonly id: string; readonly dueInMs: number; readonly payload: unknown }[]
}

/** All state of an adapter, so that calls continue after a restart and any number of replicas can run them together. */
export interface AdapterStorage {
  /** In the order of the keys, all of one moment. */
  read(tenant: Tenant, keys: readonly string[]): Promise<readonly StoredRecord[]>
  /**
   * Writes everything, or nothing and resolves to `conflict` if a record has another version. A write that rejects may
   * have been executed, unless it rejects with Unavailable whose `fate` is `not-executed`.
   * @param known from the command that causes the change
   */
  write(tenant: Tenant, change: StorageChange, known?: KnownRecords): Promise<'committed' | 'conflict'>
}

/** Stored under the id of a further call of a record: the call that names the record. */
interface Alias {
  readonly alias: CallId
}

/** Of an alias: longer than any call. */
const ALIAS_KEPT_MS = 30 * 24 * 60 * 60_000

export async function readByCall(
  storage: Pick<AdapterStorage, 'read'>,
  keyOf: (callId: CallId) => string,
  tenant: Tenant,
  callId: CallId,
  known?: KnownRecords,
): Promise<{ readonly value: object; readonly version: number } | undefined> {
  const key = keyOf(callId)
  const found = known?.get(key) ?? (await storage.read(tenant, [key]))[0]
  const value = found?.value as object | undefined
  if (found === undefined || found.version === 0 || value === undefined) return undefined
  return 'alias' in value
    ? readByCall(storage, keyOf, tenant, (value as Alias).alias)
    : { value, version: found.version }
}

/** @param expectedVersion 0: the call is new */
export const aliasTo = (alias: CallId, key: string, expectedVersion = 0): RecordChange => ({
  key,
  expectedVersion,
  value: { alias } satisfies Alias,
  ttlMs: ALIAS_KEPT_MS,
})

/** For the calls of a group that no record names yet. @param known those that have been stored before */
export const aliasesOf = (
  { sessionId, calls }: CallGroup,
  known: CallGroup['calls'],
  keyOf: (callId: CallId) => string,
): RecordChange[] =>
  Object.values(calls).flatMap(({ callId }) =>
    callId === sessionId || known[callId] !== undefined ? [] : [aliasTo(sessionId, keyOf(callId))],
  )

/** The storage of an adapter for a PBX, whose events one replica receives for all. */
export interface PbxMemory extends AdapterStorage {
  /** The listed records of all tenants. A key may be returned whose record is gone; none is ever left out. */
  list(): Promise<readonly { readonly tenant: Tenant; readonly key: string }[]>
  /** Takes or prolongs a lease. False: another owner has it. */
  lease(name: string, owner: string, ttlMs: number): Promise<boolean>
  /** Gives a lease back; nothing if another owner has it. */
  release(name: string, owner: string): Promise<void>
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
