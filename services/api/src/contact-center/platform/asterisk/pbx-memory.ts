import type { PbxMemory } from '@switchhook/platform'
import type { FollowedRecords, LeaseStore, StateStore } from '@switchhook/store'

export interface PbxMemoryDeps {
  readonly store: StateStore
  readonly followed: FollowedRecords
  readonly leases: LeaseStore
  /** Called when a timer was set that falls due in `dueInMs`. */
  readonly expectTimer: (dueInMs: number) => void
}

/** The Asterisk adapter's storage, in the same Redis as the calls. Rejects with Unavailable without Redis. */
export function createPbxMemory({ store, followed, leases, expectTimer }: PbxMemoryDeps): PbxMemory {
  return {
    async read(tenant, keys) {
      const records = await store.read(tenant, keys)
      return records.map((record) => record ?? { version: 0, value: undefined })
    },
    async write(tenant, { records, timers }) {
      const begun = records.filter(({ isListed, expectedVersion }) => isListed && expectedVersion === 0)
      for (const { key } of begun) await followed.add(tenant, key)
      const result = await store.commit(tenant, { records, timers, events: [] })
      if (result === 'conflict') return result
      for (const { dueInMs } of timers) expectTimer(dueInMs)
      const finished = records.filter(({ isListed, expectedVersion }) => !isListed && expectedVersion > 0)
      // The change is committed. A name that stays is forgotten once its record has expired.
      for (const { key } of finished) await followed.remove(tenant, key).catch(() => {})
      return result
    },
    list: () => followed.all(),
    lease: (name, owner, ttlMs) => leases.take(name, owner, ttlMs),
    release: (name, owner) => leases.release(name, owner),
  }
}
