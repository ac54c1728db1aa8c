import type { CheckResult, SubscriptionId } from '@switchhook/contracts'
import { checkFactsKey, checksKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'

/** Whose endpoint is checked. */
interface Checked {
  readonly tenant: string | null
  readonly id: SubscriptionId
}

interface CheckBounds {
  /** After so long, one of which nothing is heard is over. */
  readonly leaseMs: number
  /** Of a tenant, at a time. */
  readonly most: number
}

/** Checks of receivers: one at a time for a subscription, few for a tenant, and what each has seen, until somebody reads it. */
export interface CheckStore {
  begin(checked: Checked, bounds: CheckBounds): Promise<'begun' | 'running' | 'too-many'>
  /** Only within the lease: after it, it would end another one. */
  end(checked: Checked): Promise<void>
  save(checkId: string, result: CheckResult): Promise<void>
  find(checkId: string): Promise<CheckResult | undefined>
}

/** Whoever asked waits for it; what nobody reads is forgotten. */
const FACTS_MS = 10 * 60_000

export function createCheckStore(redis: Redis): CheckStore {
  return {
    begin: ({ tenant, id }, { leaseMs, most }) =>
      redis[run]((commands) =>
        commands.runScript('subscriptions/begin-check', [checksKey(tenant)], [id, leaseMs, most]),
      ),
    async end({ tenant, id }) {
      await redis[run]((commands) => commands.zrem(checksKey(tenant), id))
    },
    async save(checkId, result) {
      await redis[run]((commands) => commands.set(checkFactsKey(checkId), JSON.stringify(result), 'PX', FACTS_MS))
    },
    async find(checkId) {
      const stored = await redis[run]((commands) => commands.get(checkFactsKey(checkId)))
      return stored === null ? undefined : (JSON.parse(stored) as CheckResult)
    },
  }
}
