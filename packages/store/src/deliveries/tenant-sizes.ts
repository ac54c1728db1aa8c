import { type Delivery, parseSubscriptionId, type Tenant } from '@switchhook/contracts'
import { crossingsKey, type Endpoint, limitNoticesKey, parkingSubscriptionsKey, sizesKey, totalKey } from '../keys.ts'
import { execute, type Redis, runScript } from '../redis/redis.ts'

/** How many deliveries may be kept: parked ones with their body, or held ones. */
export interface StorageLimits {
  readonly perSubscription: number
  readonly perTenant: number
}

export type LimitedList = 'parked' | 'held'

/** A limit that a list has crossed. `size`: how many deliveries were in the list. */
export interface Crossing extends Endpoint {
  readonly crossedAtMs: number
  readonly limit: number
  readonly size: number
  /** What `LimitNotices.published` compares. */
  readonly stored: string
}

/** What a list may keep. `most`: how many deliveries one cut takes from it at most. */
export interface Cut {
  readonly keep: number
  readonly most: number
}

export interface CutResult {
  /** Of the list afterwards. */
  readonly size: number
  readonly taken: number
}

const DAY_MS = 86_400_000
/** Deliveries that one cut takes from a list: a few milliseconds of Redis' time. */
export const CUT_AT_ONCE = 250
/** For one added delivery. More than one is needed if others are added meanwhile, lists became shorter unnoticed, or a limit was lowered. */
const MAX_CUTS = 50
/** Longer than a cut takes. If the worker dies, another one cuts after it, with the next delivery. */
const CUT_MS = 5_000

/** `notice`: the share of a limit beyond which there is one. `again`: below this share of the crossed limit, there can be another. */
const SHARES = { parked: { notice: 1, again: 0.9 }, held: { notice: 0.8, again: 0.7 } } as const

/**
 * How long a tenant's lists of parked, or held, deliveries are, and their sum. The sizes are absolute, so no crash makes the
 * sum drift: the next record of a list repairs it. A list that became shorter counts as long as before until its next record, or
 * until it is the longest and the tenant is over its limit.
 * @param retentionMs how long a delivery is stored
 */
export function createTenantSizes(redis: Redis, list: LimitedList, limits: StorageLimits, retentionMs: number) {
  const { notice, again } = SHARES[list]
  const shared = [limits.perSubscription, limits.perTenant, notice, again, retentionMs + DAY_MS]

  /**
   * @param before the size of the list before it was cut to its limit
   * @param options `cutName`: the cut after which the list has this size; `mayCut`: the caller cuts, if it has to
   * @returns `over`: by how many the tenant is over its limit; `cut`: how this caller has to cut its longest list
   */
  async function record(
    { tenant, subscriptionId }: Endpoint,
    { size, before = size }: { readonly size: number; readonly before?: number },
    { cutName = '', mayCut = true } = {},
  ) {
    const own = [sizesKey, totalKey, crossingsKey, limitNoticesKey].map((keyOf) => keyOf(tenant, list))
    const keys = list === 'parked' ? [...own, parkingSubscriptionsKey(tenant)] : own
    const args = [subscriptionId, size, before, ...shared, cutName, mayCut ? CUT_MS : 0]
    const [isDue, over, id, keep = 0, name = ''] = await runScript(redis, 'deliveries/record-size', keys, args)
    const cut = id === undefined ? undefined : { name, keep, list: { tenant, subscriptionId: parseSubscriptionId(id) } }
    return { isNoticeDue: isDue === 1, over, cut }
  }

  return {
    record,
    /**
     * Cuts the tenant's longest list, and again, until the tenant is within its limit, or nothing more can be taken from it.
     * @param recorded the last size of the list that became longer
     * @param instead the list to cut if nothing can be taken from the longest one
     */
    async cutLongest<Result extends CutResult>(
      recorded: Awaited<ReturnType<typeof record>>,
      cut: (endpoint: Endpoint, what: Cut) => Promise<Result>,
      instead?: Endpoint,
    ): Promise<readonly Result[]> {
      const results: Result[] = []
      let stuck: Endpoint | undefined
      for (let now = recorded; now.cut !== undefined && results.length < MAX_CUTS; ) {
        const { name: cutName } = now.cut
        const { list, keep } = stuck === undefined ? now.cut : { list: stuck, keep: 0 }
        const result = await cut(list, { keep, most: Math.min(now.over, CUT_AT_ONCE) })
        results.push(result)
        const isStuck = result.taken === 0 && result.size > keep
        now = await record(list, result, { cutName, mayCut: !isStuck || (list !== instead && instead !== undefined) })
        stuck = isStuck ? instead : undefined
      }
      return results
    },
  }
}

export type LimitNotices = ReturnType<typeof createLimitNotices>

/** The crossed limits of which no notice was published yet. */
export const createLimitNotices = (redis: Redis, list: LimitedList) => ({
  async due(tenant: Tenant): Promise<readonly Crossing[]> {
    const notices = await redis[execute]((commands) => commands.hgetall(limitNoticesKey(tenant, list)))
    return Object.entries(notices).map(([id, stored]) => {
      const [crossedAtMs = 0, limit = 0, size = 0] = stored.split(' ').map(Number)
      return { tenant, subscriptionId: parseSubscriptionId(id), crossedAtMs, limit, size, stored }
    })
  },
  /** Call it after the broker's confirm. If the process dies in between, the same event is published again. */
  published: ({ tenant, subscriptionId, stored }: Crossing): Promise<void> =>
    runScript(redis, 'redis/delete-field-if-equal', [limitNoticesKey(tenant, list)], [subscriptionId, stored]),
})

/** Of Redis's memory, a usual delivery takes less after eight attempts. */
export const UNIT_BYTES = 8_192
/** Of one attempt with the endpoint's answer, and of all that a record keeps, at most (settle-delivery.lua). */
const ATTEMPT_BYTES = 640
const MAX_ATTEMPTS_BYTES = 16_384

/** The units of a limit that a delivery takes beyond one, so that a limit in deliveries bounds the memory, too. */
export const extraUnitsOf = ({ body, attempt }: Pick<Delivery, 'body' | 'attempt'>): number =>
  Math.max(0, Math.ceil((body.length + Math.min(ATTEMPT_BYTES * attempt, MAX_ATTEMPTS_BYTES)) / UNIT_BYTES) - 1)
