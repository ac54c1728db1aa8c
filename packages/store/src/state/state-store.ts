import { randomUUID } from 'node:crypto'
import type { PlatformEvent } from '@switchhook/contracts'
import { outboxKey, partitionOf, stateKey, timerMember, timerPayloadsKey, timersKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import { outboxJson } from './outbox.ts'

export interface StateRecord {
  /** 1 when first written, one more with every commit. */
  readonly version: number
  /** What JSON can say. */
  readonly value: unknown
}

/** One step of a tenant's calls and agents. */
export interface StateChange {
  readonly records: readonly {
    /** Within the tenant, such as `call:<id>` or `agent:<uri>`. */
    readonly key: string
    /** 0: the record must not exist. */
    readonly expectedVersion: number
    readonly value: unknown
    /** Forgotten after so long, counted from this commit; without it, never. */
    readonly ttlMs?: number
  }[]
  /** Stored in the outbox: whatever becomes of this process, they are sent. */
  readonly events: readonly PlatformEvent[]
  /** An id that is already set is set anew. */
  readonly timers: readonly { readonly id: string; readonly dueInMs: number; readonly payload: unknown }[]
}

/**
 * Stores calls and agents. Rejects with Unavailable without Redis; a commit has certainly not happened if the error's
 * `fate` is `not-executed`.
 */
export interface StateStore {
  /** In the order of the keys, all of one moment. */
  read(tenant: string | null, keys: readonly string[]): Promise<(StateRecord | undefined)[]>
  /** All or nothing. 'conflict', and nothing, when a record's version is not the expected one. */
  commit(tenant: string | null, change: StateChange): Promise<'committed' | 'conflict'>
}

export function createStateStore(redis: Redis): StateStore {
  return {
    async read(tenant, keys) {
      if (keys.length === 0) return []
      const stored = await redis[run]((commands) => commands.mget(keys.map((key) => stateKey(tenant, key))))
      return stored.map((record) => (record === null ? undefined : parse(record)))
    },
    async commit(tenant, { records, events, timers }) {
      const partition = partitionOf(tenant)
      const keys = [
        outboxKey(partition),
        timersKey(partition),
        timerPayloadsKey(partition),
        ...records.map(({ key }) => stateKey(tenant, key)),
      ]
      const args = [
        `${records.length} ${events.length} ${timers.length}`,
        ...records.flatMap(({ expectedVersion, value, ttlMs }) => [expectedVersion, toJson(value), ttlMs ?? 0]),
        ...events.map(outboxJson),
        ...timers.flatMap(({ id, dueInMs, payload }) => [
          timerMember(tenant, id),
          dueInMs,
          timerJson(tenant, id, payload),
        ]),
      ]
      const result = await redis[run]((commands) => commands.runScript('state/commit-state', keys, args))
      return result === 1 ? 'committed' : 'conflict'
    },
  }
}

/** undefined, which JSON does not know, is stored as null. */
const toJson = (value: unknown): string => JSON.stringify(value ?? null)

/** The nonce tells a timer from one of the same id that was set while the first was being handled. */
const timerJson = (tenant: string | null, id: string, payload: unknown): string =>
  JSON.stringify({ id, tenant, payload: payload ?? null, nonce: randomUUID() })

function parse(stored: string): StateRecord {
  const end = stored.indexOf(':')
  return { version: Number(stored.slice(0, end)), value: JSON.parse(stored.slice(end + 1)) }
}
