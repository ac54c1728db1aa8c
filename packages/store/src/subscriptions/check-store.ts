import type { CheckResult, Subscription } from '@switchhook/contracts'
import { checkFactsKey, checksKey } from '../keys.ts'
import { execute, type Redis, runScript } from '../redis/redis.ts'

type Checked = Pick<Subscription, 'tenant' | 'id'>

/** How long a result is kept that the request which started the check does not take. */
const FACTS_MS = 10 * 60_000

export type CheckStore = ReturnType<typeof createCheckStore>

/** Limits receiver checks to one per subscription and a few per tenant, and hands their results from worker to api. */
export const createCheckStore = (redis: Redis) => ({
  /** One that was not ended within `leaseMs` counts as ended. At most `most` of a tenant run at the same time. */
  begin: ({ tenant, id }: Checked, { leaseMs, most }: { leaseMs: number; most: number }) =>
    runScript(redis, 'subscriptions/begin-check', [checksKey(tenant)], [id, leaseMs, most]),
  /** Call it within the lease only: after it, this would end the next check. */
  async end({ tenant, id }: Checked): Promise<void> {
    await redis[execute]((commands) => commands.zrem(checksKey(tenant), id))
  },
  async save(checkId: string, result: CheckResult): Promise<void> {
    await redis[execute]((commands) => commands.set(checkFactsKey(checkId), JSON.stringify(result), 'PX', FACTS_MS))
  },
  /** Forgets the result: only one request waits for it. */
  async take(checkId: string): Promise<CheckResult | undefined> {
    const stored = await redis[execute]((commands) => commands.getdel(checkFactsKey(checkId)))
    return stored === null ? undefined : (JSON.parse(stored) as CheckResult)
  },
})
