import type { StateRecord, StateStore } from '@switchhook/store'

/** Records that one request has read ahead, by tenant and key. */
export type AheadOfRequest = Map<string, AheadRecord>

interface AheadRecord {
  readonly record: StateRecord | undefined
  /** On a clock that only rises. */
  readonly readAtMs: number
}

export interface ReadAheadStore extends StateStore {
  /** Reads `keys`, and in the same round trip `ahead`, which later reads of this request will ask for. */
  readAhead(
    tenant: string | null,
    keys: readonly string[],
    ahead: readonly string[],
  ): Promise<(StateRecord | undefined)[]>
}

/** Much longer than the steps of a command. Work that a request started and that outlives it reads for itself. */
const LONGEST_AHEAD_MS = 1_000

/**
 * A store that answers a request's reads from what the request has read ahead. A record read ahead is used once, and never
 * after a commit of this request has changed it. So a repeat after a conflict reads Redis. A record that another process
 * changes meanwhile makes the commit conflict, as if the change had come just after an ordinary read.
 * @param current the records of the current request; undefined outside a request
 */
export function createReadAheadStore(
  store: StateStore,
  current: () => AheadOfRequest | undefined,
  nowMs: () => number = () => performance.now(),
): ReadAheadStore {
  /** Undefined unless every key was read ahead. */
  function take(tenant: string | null, keys: readonly string[]): (StateRecord | undefined)[] | undefined {
    const known = current()
    if (known === undefined || known.size === 0) return undefined
    const names = keys.map((key) => nameOf(tenant, key))
    const found = names.map((name) => known.get(name))
    for (const name of names) known.delete(name)
    const oldestMs = nowMs() - LONGEST_AHEAD_MS
    const usable = found.filter((one) => one !== undefined && one.readAtMs >= oldestMs)
    return usable.length === keys.length ? usable.map((one) => one?.record) : undefined
  }

  return {
    read: async (tenant, keys) => take(tenant, keys) ?? store.read(tenant, keys),
    async readAhead(tenant, keys, ahead) {
      const known = current()
      if (known === undefined) return store.read(tenant, keys)
      const all = [...new Set([...keys, ...ahead])]
      const readAtMs = nowMs()
      const records = await store.read(tenant, all)
      const byKey = new Map(all.map((key, at) => [key, records[at]]))
      for (const key of ahead) known.set(nameOf(tenant, key), { record: byKey.get(key), readAtMs })
      return keys.map((key) => byKey.get(key))
    },
    async commit(tenant, change) {
      const known = current()
      for (const { key } of change.records) known?.delete(nameOf(tenant, key))
      return store.commit(tenant, change)
    },
  }
}

const nameOf = (tenant: string | null, key: string): string => JSON.stringify([tenant, key])
