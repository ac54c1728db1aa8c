import { leaseKey } from '../keys.ts'
import { type Redis, runScript } from '../redis/redis.ts'

/** Leases that one process at a time can hold. Without Redis, both methods reject with Unavailable. */
export interface LeaseStore {
  /** Takes the lease, or prolongs it. False: another process has it. */
  take(name: string, holder: string, ttlMs: number): Promise<boolean>
  /** Ends the lease early; does nothing if another process has it. */
  release(name: string, holder: string): Promise<void>
}

export function createLeaseStore(redis: Redis): LeaseStore {
  return {
    async take(name, holder, ttlMs) {
      const keys = [leaseKey(name)]
      const taken = await runScript(redis, 'state/take-lease', keys, [holder, ttlMs])
      return taken === 1
    },
    async release(name, holder) {
      await runScript(redis, 'state/release-lease', [leaseKey(name)], [holder])
    },
  }
}
