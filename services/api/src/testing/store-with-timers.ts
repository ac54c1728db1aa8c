import { createStateStore, type Redis, type StateChange, type StateStore } from '@switchhook/store'

/** A store of state whose committed timers a test sees. */
export function storeWithTimers(redis: Redis, seen: (timers: StateChange['timers']) => void): StateStore {
  const store = createStateStore(redis)
  return {
    ...store,
    async commit(tenant, change) {
      const result = await store.commit(tenant, change)
      if (result === 'committed') seen(change.timers)
      return result
    },
  }
}
