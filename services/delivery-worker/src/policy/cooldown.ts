import type { Delivery, SubscriptionId } from '@switchhook/contracts'
import type { BreakerStore } from '@switchhook/store'
import type { Breaker } from '../pipeline/deliver.ts'
import { resultOf } from './attempt-result.ts'
import { isTransientFailure } from './decide.ts'

/** Tells of outages, to whoever wants to know. Neither rejects: an endpoint is not left alone because of a notice. */
export interface OutageNotices {
  /** Once for each outage, though it is called with every cool-down of it. */
  readonly failing: (delivery: Delivery) => Promise<void>
  /** Before the breaker is closed. */
  readonly recovered: (delivery: Delivery) => Promise<void>
}

const NOBODY: OutageNotices = { failing: async () => {}, recovered: async () => {} }

/** More endpoints than fail at a time. Of those beyond it, an answer may leave the count as it is once. */
const MOST_FAILING = 10_000

/**
 * Reads outcomes as a breaker does: a transient failure counts, any other answer, a refusal included, shows that the
 * endpoint works. An answer of an endpoint that is not known to fail, neither from the look before the POST nor from what
 * this worker has noted since, has nothing to change, and costs nothing.
 * @param leaseMs longer than an attempt can take: then the worker that probes has died
 */
export function createBreaker(
  store: Pick<BreakerStore, 'claimProbe' | 'noteFailure' | 'noteAnswer'>,
  leaseMs: number,
  opened: (subscriptionId: string) => void,
  notices: OutageNotices = NOBODY,
): Breaker {
  const failing = new Set<SubscriptionId>()
  return {
    claimProbe: (delivery) => store.claimProbe(delivery, leaseMs),
    note: async (delivery, outcome, { health, probe }) => {
      const { subscriptionId } = delivery
      if (isTransientFailure(outcome)) {
        if (failing.size < MOST_FAILING) failing.add(subscriptionId)
        if (await store.noteFailure(delivery, probe, resultOf(outcome))) {
          opened(subscriptionId)
          await notices.failing(delivery)
        }
      } else if (health.consecutiveFailures > 0 || failing.has(subscriptionId)) {
        await notices.recovered(delivery)
        await store.noteAnswer(delivery)
        failing.delete(subscriptionId)
      }
    },
  }
}
