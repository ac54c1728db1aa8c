import { parseSubscriptionId, type SubscriptionId, type Tenant } from '@switchhook/contracts'
import { type Endpoint, subscriptionsKey } from '../keys.ts'
import type { Commands } from '../redis/commands.ts'
import { pipeline, type Redis, run, runScript } from '../redis/redis.ts'

/** How many deliveries may be kept: parked ones with their body, or held ones. */
export interface DeliveryLimits {
  readonly perSubscription: number
  readonly perTenant: number
}

interface Stored {
  readonly subscriptionsKey: (tenant: Tenant) => string
  readonly roomKey: (tenant: Tenant) => string
  readonly count: (commands: Commands, id: SubscriptionId) => Promise<number>
  /** How long a delivery is stored. Its subscription stays registered for a day longer. */
  readonly retentionMs: number
}

const DAY_MS = 86_400_000
/** Subscriptions that are counted together: some milliseconds of Redis' time, and of the worker's. */
const COUNTED_AT_ONCE = 250
/** Longer than the longest count. If the worker dies meanwhile, another one counts afterwards. */
const MAX_COUNT_MS = 60_000
/** Also finds deliveries that were not reported: stored by an earlier version, or by a worker that died before its sweep. */
const COUNT_VALID_MS = 600_000
/** Of the time of one worker and tenant, a 20th at most is spent on counts. */
const REST_PER_COUNT = 20

const nameOf = ({ perSubscription, perTenant }: DeliveryLimits): string => `${perSubscription}/${perTenant}`

export type TenantRoom = ReturnType<typeof createTenantRoom>

/**
 * How many deliveries a tenant may still store. It counts the lists themselves, and again after ten minutes, so no counter
 * can drift for longer. Several workers may call every method concurrently.
 */
export const createTenantRoom = (redis: Redis, stored: Stored) => ({
  /** Call it before storing a delivery: a list that is not registered with its tenant does not count. */
  async register({ tenant, subscriptionId }: Endpoint): Promise<void> {
    const key = stored.subscriptionsKey(tenant)
    const [nowMs, listedMs] = [Date.now(), stored.retentionMs + DAY_MS]
    await pipeline(redis, (commands) => [
      commands.zadd(key, 'GT', nowMs, subscriptionId),
      commands.pexpire(key, listedMs),
      commands.zremrangebyscore(key, '-inf', nowMs - listedMs),
    ])
  },
  /**
   * Reports newly stored deliveries. Costs the same however many subscriptions the tenant has.
   * @param isCountWanted a count is due even if the tenant has room left, unless another worker counts
   * @returns `whole` of the last count with the same limits, undefined if there was none; `isCountDue`: the tenant may be
   *   over its limit, so the caller must count, and then call `counted`
   */
  async spend(tenant: Tenant, count: number, limits: DeliveryLimits, isCountWanted = false) {
    const args = [count, MAX_COUNT_MS, COUNT_VALID_MS, nameOf(limits), isCountWanted ? 1 : 0]
    const [whole, isCountDue] = await runScript(redis, 'deliveries/spend-parked-room', [stored.roomKey(tenant)], args)
    return { whole: whole === '' ? undefined : Number(whole), isCountDue: isCountDue === 1 }
  },
  /**
   * How many deliveries are stored, for each subscription of the tenant with any, deleted ones included. It reads every
   * subscription of the tenant, in pages, so that neither Redis nor the caller is busy for long.
   */
  async counts(tenant: Tenant): Promise<ReadonlyMap<SubscriptionId, number>> {
    const counts = new Map<SubscriptionId, number>()
    for (const [scan, key] of [
      ['zscan', stored.subscriptionsKey(tenant)],
      // Earlier versions stored without registering.
      ['hscan', subscriptionsKey(tenant)],
    ] as const) {
      let cursor = '0'
      do {
        const [next, found] = await redis[run]((commands) => commands[scan](key, cursor, 'COUNT', COUNTED_AT_ONCE))
        // Each id is followed by its score or its subscription.
        const ids = found
          .filter((_, i) => i % 2 === 0)
          .map(parseSubscriptionId)
          .filter((id) => !counts.has(id))
        const sizes = await pipeline(redis, (commands) => ids.map((id) => stored.count(commands, id)))
        for (const [i, id] of ids.entries()) if ((sizes[i] ?? 0) > 0) counts.set(id, sizes[i] ?? 0)
        cursor = next
      } while (cursor !== '0')
    }
    return counts
  },
  /**
   * Call it before trimming.
   * @param result `whole`: how many deliveries each subscription may keep; `room`: how many the tenant may store before it
   *   can be over its limit; `tookMs`: how long the count took. The next one begins after a multiple of that.
   */
  async counted(tenant: Tenant, limits: DeliveryLimits, result: { whole: number; room: number; tookMs: number }) {
    const { whole, room, tookMs } = result
    const args = [whole, room, Math.ceil(REST_PER_COUNT * tookMs), COUNT_VALID_MS, nameOf(limits)]
    await runScript(redis, 'deliveries/note-parked-count', [stored.roomKey(tenant)], args)
  },
})

/**
 * A fair share of what a tenant may keep, or of what is read of it: the largest number of deliveries per subscription, at most
 * `perSubscription`, with which all subscriptions together stay within `perTenant`. A subscription with fewer loses none, so
 * one with many cannot displace the deliveries of the others.
 * @param counts the number of deliveries of each subscription of the tenant
 * @returns at least 1
 */
export function shareOf(counts: readonly number[], { perSubscription, perTenant }: DeliveryLimits): number {
  if (keptWith(perSubscription, counts) <= perTenant) return perSubscription
  let [least, most] = [1, perSubscription]
  while (least < most) {
    const share = Math.ceil((least + most) / 2)
    if (keptWith(share, counts) <= perTenant) least = share
    else most = share - 1
  }
  return least
}

/** How many are kept if each subscription keeps at most `share`. */
export const keptWith = (share: number, counts: readonly number[]): number =>
  counts.reduce((kept, count) => kept + Math.min(count, share), 0)
