import type { BreakerStore } from '@switchhook/store'
import { isTransientFailure } from './decide.ts'
import type { Breaker } from './deliver.ts'

/**
 * Reads outcomes as a breaker does: a transient failure counts, any other answer, a refusal included, shows that the
 * endpoint works.
 * @param leaseMs longer than an attempt can take: then the worker that probes has died
 */
export function createBreaker(store: BreakerStore, leaseMs: number, opened: (subscriptionId: string) => void): Breaker {
  return {
    ask: async ({ subscriptionId }) => (await store.ask(subscriptionId)).state,
    claimProbe: ({ subscriptionId }) => store.claimProbe(subscriptionId, leaseMs),
    note: async ({ subscriptionId }, outcome, probe) => {
      if (!isTransientFailure(outcome)) return store.noteAnswer(subscriptionId)
      if (await store.noteFailure(subscriptionId, probe)) opened(subscriptionId)
    },
  }
}
