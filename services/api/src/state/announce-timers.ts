import type { StateChange, StateStore } from '@switchhook/store'

/** The same store, which tells `announced` about the timers of each commit: the timer loop wakes for them. */
export const announceTimers = (store: StateStore, announced: (timers: StateChange['timers']) => void): StateStore => ({
  ...store,
  async commit(tenant, change) {
    const result = await store.commit(tenant, change)
    if (result === 'committed') announced(change.timers)
    return result
  },
})
