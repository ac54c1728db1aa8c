import { randomUUID } from 'node:crypto'
import type { PlatformEvent, Tenant } from '@switchhook/contracts'
import {
  outboxKey,
  partitionOf,
  revisionKey,
  stateKey,
  timerMember,
  timerPayloadsKey,
  timersClockKey,
  timersKey,
} from '../keys.ts'
import { execute, type Redis, runScript, stringsPerTick } from '../redis/redis.ts'
import { CONSUMER, DEAD_AFTER_MS, GROUP, type OutboxEntry } from './outbox.ts'

export interface StateRecord {
  /** 1 at first; each commit adds 1. 0: the record does not exist. */
  readonly version: number
  /** Any JSON value. */
  readonly value: unknown
}

/** One atomic change of a tenant's state. */
export interface StateChange {
  readonly records: readonly {
    /** Unique within the tenant, for example `call:<id>` or `agent:<uri>`. */
    readonly key: string
    /** 0: the record must not exist. */
    readonly expectedVersion: number
    readonly value: unknown
    /** The record expires this long after the commit. Absent: never. */
    readonly ttlMs?: number
  }[]
  /** Stored in the outbox, so they are published even if this process dies. */
  readonly events: readonly PlatformEvent[]
  /** Replaces a timer with the same id. */
  readonly timers: readonly {
    readonly id: string
    readonly dueInMs: number
    readonly payload: unknown
    /** A timer with the same id that is set or being handled is kept. */
    readonly isKept?: boolean
  }[]
}

/** The relay of this process: commits claim their events for it, so that it need not read them back. */
export interface Relay {
  /** Whether it takes events now. If not, a commit leaves its events to any relay's `claim`. */
  readonly takesEvents: () => boolean
  /** It must now send these events, or give them back. Until then no other relay takes them, for 11 s. */
  readonly claimed: (entries: readonly OutboxEntry[]) => void
  /** A commit has left events to `claim`. */
  readonly unclaimed: () => void
}

export type StateStore = ReturnType<typeof createStateStore>

/**
 * Stores calls, agents and other state of a tenant with optimistic locking. Without Redis it rejects with Unavailable; if
 * the error's `fate` is `not-executed`, nothing was committed.
 * @param relay absent: commits leave their events to `claim`
 */
export function createStateStore(redis: Redis, relay?: Relay) {
  const readString = stringsPerTick(redis)
  /**
   * The revision of the tenant's subscriptions, in the same write as the commit that it follows. In a cluster it may be on
   * another node, which the commit must not wait for. Undefined: fan-out reads it. So it does if there is none, because Redis
   * may have lost its data, and be restored by then.
   */
  async function readRevision(tenant: Tenant): Promise<string | undefined> {
    if (!redis.mayMixTags()) return undefined
    try {
      return (await readString(revisionKey(tenant))) ?? undefined
    } catch {
      return undefined
    }
  }

  function handOver(partition: number, events: readonly PlatformEvent[], ids: readonly string[]): void {
    if (relay === undefined || events.length === 0) return
    const entries = events.map((event, at) => ({ event, partition, id: ids[at] ?? '' })).filter(({ id }) => id !== '')
    if (entries.length > 0) relay.claimed(entries)
    if (entries.length < events.length) relay.unclaimed()
  }

  return {
    /** Reads all keys atomically. Results are in the order of the keys. */
    async read(tenant: Tenant, keys: readonly string[]): Promise<StateRecord[]> {
      if (keys.length === 0) return []
      const stored = await redis[execute]((commands) => commands.mget(keys.map((key) => stateKey(tenant, key))))
      return stored.map((record) => (record === null ? ABSENT : parse(record)))
    },
    /** Writes everything or nothing. 'conflict': the version of a record is not the expected one, nothing was written. */
    async commit(tenant: Tenant, { records, events, timers }: StateChange): Promise<'committed' | 'conflict'> {
      const partition = partitionOf(tenant)
      const lists = [outboxKey(partition), timersKey(partition), timerPayloadsKey(partition), timersClockKey(partition)]
      const keys = [...lists, ...records.map(({ key }) => stateKey(tenant, key))]
      const args = [
        `${records.length} ${events.length} ${timers.length}`,
        GROUP,
        relay?.takesEvents() === true ? CONSUMER : '',
        DEAD_AFTER_MS,
        ...records.flatMap(({ expectedVersion, value, ttlMs }) => [
          expectedVersion,
          // JSON has no undefined, so it is stored as null.
          `${expectedVersion + 1}:${JSON.stringify(value ?? null)}`,
          ttlMs ?? 0,
        ]),
        ...events.map((event) => JSON.stringify(event)),
        ...timers.flatMap(({ id, dueInMs, payload, isKept }) => [
          timerMember(tenant, id),
          dueInMs,
          timerJson(tenant, id, payload),
          isKept === true ? 1 : 0,
        ]),
      ]
      const committing = runScript(redis, 'state/commit-state', keys, args)
      const reading = events.length > 0 ? readRevision(tenant) : undefined
      const [written, ...ids] = await committing
      if (written === 0) return 'conflict'
      const revision = await reading
      handOver(partition, revision === undefined ? events : events.map((event) => ({ ...event, revision })), ids)
      return 'committed'
    },
  }
}

const ABSENT: StateRecord = { version: 0, value: undefined }

/** The nonce distinguishes a timer from one with the same id that was set while the first was being handled. */
const timerJson = (tenant: Tenant, id: string, payload: unknown): string =>
  JSON.stringify({ id, tenant, payload: payload ?? null, nonce: randomUUID() })

function parse(stored: string): StateRecord {
  const end = stored.indexOf(':')
  return { version: Number(stored.slice(0, end)), value: JSON.parse(stored.slice(end + 1)) }
}
