import { leaseKey } from '../keys.ts'
import { type Redis, runScript } from '../redis/redis.ts'

/** Leases that one process at a time can hold. Without Redis, both methods reject with Unavailable. */
export const createLeaseStore = (redis: Redis) => ({
  /** Takes the lease, or prolongs it. False: another process has it. */
  async take(name: string, holder: string, ttlMs: number): Promise<boolean> {
    return (await runScript(redis, 'state/take-lease', [leaseKey(name)], [holder, ttlMs])) === 1
  },
  /** Ends the lease early; does nothing if another process has it. */
  release: (name: string, holder: string): Promise<void> =>
    runScript(redis, 'redis/delete-if-equal', [leaseKey(name)], [holder]),
})
