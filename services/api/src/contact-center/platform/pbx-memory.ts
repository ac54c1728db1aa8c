import type { PbxMemory } from '@switchhook/platform'
import { createFollowedRecords, createLeaseStore, type Redis, type StateStore } from '@switchhook/store'

/** The storage of a PBX's adapter, in the same Redis as the calls. Rejects with Unavailable without Redis. */
export function createPbxMemory(store: StateStore, redis: Redis, now: () => number): PbxMemory {
  const followed = createFollowedRecords(redis, now)
  const leases = createLeaseStore(redis)
  return {
    read: (tenant, keys) => store.read(tenant, keys),
    async write(tenant, { records, timers }) {
      const begun = records.filter(({ isListed, expectedVersion }) => isListed && expectedVersion === 0)
      for (const { key } of begun) await followed.add(tenant, key)
      const result = await store.commit(tenant, { records, timers, events: [] })
      if (result === 'conflict') return result
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
