import type { CheckResult, SubscriptionId, Tenant } from '@switchhook/contracts'
import { checkFactsKey, checksKey } from '../keys.ts'
import { type Redis, run, runScript } from '../redis/redis.ts'

/** The subscription whose endpoint is checked. */
interface Checked {
  readonly tenant: Tenant
  readonly id: SubscriptionId
}

interface CheckBounds {
  /** After this time a check that was not ended counts as ended. */
  readonly leaseMs: number
  /** Checks of a tenant that may run at the same time. */
  readonly most: number
}

/** Limits receiver checks to one per subscription and a few per tenant, and hands their results from worker to api. */
export interface CheckStore {
  begin(checked: Checked, bounds: CheckBounds): Promise<'begun' | 'running' | 'too-many'>
  /** Call it within the lease only: after it, this would end the next check. */
  end(checked: Checked): Promise<void>
  save(checkId: string, result: CheckResult): Promise<void>
  find(checkId: string): Promise<CheckResult | undefined>
}

/** How long a result is kept. The request that started the check waits for it. */
const FACTS_MS = 10 * 60_000

export function createCheckStore(redis: Redis): CheckStore {
  return {
    begin: ({ tenant, id }, { leaseMs, most }) =>
      runScript(redis, 'subscriptions/begin-check', [checksKey(tenant)], [id, leaseMs, most]),
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
