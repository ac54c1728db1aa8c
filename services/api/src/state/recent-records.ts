import type { Tenant } from '@switchhook/contracts'
import type { StateRecord } from '@switchhook/store'
import { LRUCache } from 'lru-cache'

/** Records as this process committed them a moment ago. Another process may have changed them since. */
export interface RecentRecords {
  /** In the order of the keys. Undefined: one of them is not known, or memory is not worth a try now. */
  readonly recall: (tenant: Tenant, keys: readonly string[]) => readonly StateRecord[] | undefined
  /** @param ttlMs how long the record is stored; absent: for ever */
  remember(tenant: Tenant, key: string, record: StateRecord, ttlMs?: number): void
  /** A commit has found that a recalled record is outdated. */
  wasOutdated(): void
}

/**
 * Recalled records, for a caller that decides on them before its step. The commit of the step compares their versions, and
 * nothing else proves that they are current.
 */
export class RecalledRecords extends Map<string, StateRecord> {
  areProven = false
}

/** Recalled records are outdated, or nothing has proven that they are not. Nothing was written. */
export class RecordsOutdated extends Error {
  override readonly name = 'RecordsOutdated'
}

/** Of about 1 KB each. */
const MAX_RECORDS = 10_000
/** Short, because the memory is only good for commands that follow each other. */
const KEPT_MS = 60_000
/** An outdated record costs a commit. With several replicas, memory is tried about once in this time. */
const PAUSE_MS = 1_000

export function createRecentRecords(): RecentRecords {
  const recent = new LRUCache<string, StateRecord>({ max: MAX_RECORDS, ttl: KEPT_MS })
  let pausedUntil = 0
  return {
    recall(tenant, keys) {
      if (keys.length === 0 || performance.now() < pausedUntil) return undefined
      const records = keys.map((key) => recent.get(nameOf(tenant, key)))
      return records.every((record) => record !== undefined) ? records : undefined
    },
    remember(tenant, key, record, ttlMs = Infinity) {
      // After the end of a record, another one can have the same version.
      if (ttlMs > KEPT_MS) recent.set(nameOf(tenant, key), record)
      else recent.delete(nameOf(tenant, key))
    },
    wasOutdated() {
      recent.clear()
      pausedUntil = performance.now() + PAUSE_MS
    },
  }
}

/** Names of tenants are not empty. */
const nameOf = (tenant: Tenant, key: string): string => `${tenant ?? ''} ${key}`
