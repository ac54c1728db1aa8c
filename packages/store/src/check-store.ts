import type { CheckFacts, SubscriptionId } from '@switchhook/contracts'
import { checkFactsKey, checkKey } from './keys.ts'
import { type Redis, run } from './redis.ts'

/** Checks of receivers: one at a time for a subscription, and what each has seen, until somebody reads it. */
export interface CheckStore {
  /** Resolves to false while another one is under way; one of which nothing is heard ends after `leaseMs`. */
  begin(subscriptionId: SubscriptionId, leaseMs: number): Promise<boolean>
  /** Only within the lease: after it, it would end another one. */
  end(subscriptionId: SubscriptionId): Promise<void>
  save(checkId: string, facts: CheckFacts): Promise<void>
  find(checkId: string): Promise<CheckFacts | undefined>
}

/** Whoever asked waits for it; what nobody reads is forgotten. */
const FACTS_MS = 10 * 60_000

export function createCheckStore(redis: Redis): CheckStore {
  return {
    async begin(subscriptionId, leaseMs) {
      const begun = await redis[run]((commands) => commands.set(checkKey(subscriptionId), '', 'PX', leaseMs, 'NX'))
      return begun !== null
    },
    async end(subscriptionId) {
      await redis[run]((commands) => commands.unlink(checkKey(subscriptionId)))
    },
    async save(checkId, facts) {
      await redis[run]((commands) => commands.set(checkFactsKey(checkId), JSON.stringify(facts), 'PX', FACTS_MS))
    },
    async find(checkId) {
      const stored = await redis[run]((commands) => commands.get(checkFactsKey(checkId)))
      return stored === null ? undefined : (JSON.parse(stored) as CheckFacts)
    },
  }
}
