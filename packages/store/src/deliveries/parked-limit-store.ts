import { parseSubscriptionId, type SubscriptionId, type Tenant } from '@switchhook/contracts'
import type { Endpoint } from '../breaker/breaker-store.ts'
import {
  bodyKey,
  parkedKey,
  parkedLimitKey,
  parkedRoomKey,
  parkingSubscriptionsKey,
  recordKey,
  subscriptionsKey,
} from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import { toEntry } from './parked-index.ts'

/** How many parked deliveries may keep their body. */
export interface ParkedLimits {
  readonly perSubscription: number
  readonly perTenant: number
}

/** How many of a subscription's parked deliveries are kept. */
interface ParkedAllowance {
  /** The newest deliveries, which keep their body. */
  readonly whole: number
  /** All deliveries that are kept, with or without a body. */
  readonly total: number
}

/** What a worker knows of a tenant's limit after it has reported what it parked. */
interface ParkedRoom {
  /** How many bodies each subscription may keep, by the last count with the same limits. Undefined: there was none. */
  readonly whole: number | undefined
  /** The caller must count: the tenant may be over its limit. Then it calls `counted`. */
  readonly isCountDue: boolean
}

/** The result of a count. */
interface Counted {
  readonly whole: number
  /** How many deliveries the tenant may park before it can be over its limit. */
  readonly room: number
  /** How long the count took. The next one begins after a multiple of this time, so that counts stay cheap. */
  readonly tookMs: number
}

/** The result of one call of `trim`. */
interface Trimmed {
  /** How many were parked before. */
  readonly count: number
  readonly bodies: number
  readonly dropped: number
  /** No further call is needed. */
  readonly isDone: boolean
}

/** When a subscription's parked deliveries exceeded their limit. It stays the same until the next crossing. */
export interface Crossing {
  readonly crossedAtMs: number
  readonly limit: number
  /** How many were parked then. */
  readonly count: number
}

export interface ParkedCount {
  readonly count: number
  /** Included in `count`. */
  readonly withoutBody: number
  /** Not included in `count`. Starts at 0 again if nothing was released for `parkedRetentionMs`. */
  readonly dropped: number
  /** Deliveries that were parked up to this time (µs) have no body. */
  readonly bodiesUntil: string
}

/**
 * Keeps the parked deliveries within limits. It counts the lists themselves, and again after ten minutes, so no counter can
 * drift for longer. Several workers may call every method concurrently.
 */
export interface ParkedLimitStore {
  /** Call it before parking a delivery: a list that is not registered with its tenant does not count. */
  register(endpoint: Endpoint): Promise<void>
  /**
   * Reports newly parked deliveries. Costs the same however many subscriptions the tenant has.
   * @param isCountWanted a count is due even if the tenant has room left, unless another worker counts
   */
  spend(tenant: Tenant, parked: number, limits: ParkedLimits, isCountWanted?: boolean): Promise<ParkedRoom>
  /**
   * How many deliveries are parked, for each subscription of the tenant with any, deleted ones included. It reads every
   * subscription of the tenant, in pages, so that neither Redis nor the caller is busy for long.
   */
  counts(tenant: Tenant): Promise<ReadonlyMap<SubscriptionId, number>>
  /** Call it before trimming. */
  counted(tenant: Tenant, limits: ParkedLimits, result: Counted): Promise<void>
  /** Releases a bounded number of bodies and deliveries beyond the allowance, the oldest first. */
  trim(subscriptionId: SubscriptionId, allowance: ParkedAllowance): Promise<Trimmed>
  /** The last crossing, unless it was reported. */
  unreported(subscriptionId: SubscriptionId): Promise<Crossing | undefined>
  markReported(subscriptionId: SubscriptionId, crossing: Crossing): Promise<void>
}

export interface ParkedLimitOptions {
  readonly parkedRetentionMs: number
  /** How long the ledger of a dropped delivery is kept, against late copies of its message. */
  readonly settledRetentionMs: number
}

const DAY_MS = 86_400_000
/** Bodies, and deliveries, that one call releases at most: a few milliseconds of Redis' time. */
const RELEASED_AT_ONCE = 250
/** Subscriptions that are counted together: some milliseconds of Redis' time, and of the worker's. */
const COUNTED_AT_ONCE = 250
/** Longer than the longest count. If the worker dies meanwhile, another one counts afterwards. */
const MAX_COUNT_MS = 60_000
/** Also finds deliveries that were not reported: parked by an earlier version, or by a worker that died before its sweep. */
const COUNT_VALID_MS = 600_000
/** Of the time of one worker and tenant, a 20th at most is spent on counts. */
const REST_PER_COUNT = 20
/** After a crossing, the next one counts only if the bodies fell below this share of the limit: one notice is enough. */
const CROSSED_AGAIN_BELOW = 0.9

const nameOf = ({ perSubscription, perTenant }: ParkedLimits): string => `${perSubscription}/${perTenant}`

export function createParkedLimitStore(redis: Redis, options: ParkedLimitOptions): ParkedLimitStore {
  const { parkedRetentionMs, settledRetentionMs } = options
  const listedMs = parkedRetentionMs + DAY_MS

  /** Resolves to whether each was released. @param keepMs how long the record is still kept; '': as long as before */
  async function release(names: readonly string[], keepMs: number | ''): Promise<boolean[]> {
    return redis[run]((commands) =>
      Promise.all(
        names.map(async (name) => {
          const { deliveryId, run: parkedRun } = toEntry(name, '')
          const keys = [recordKey(deliveryId), bodyKey(deliveryId)]
          return (await commands.runScript('deliveries/release-parked', keys, [parkedRun, keepMs])) === 1
        }),
      ),
    )
  }

  return {
    async register({ tenant, subscriptionId }) {
      const key = parkingSubscriptionsKey(tenant)
      const nowMs = Date.now()
      await redis[run]((commands) =>
        Promise.all([
          commands.zadd(key, 'GT', nowMs, subscriptionId),
          commands.pexpire(key, listedMs),
          commands.zremrangebyscore(key, '-inf', nowMs - listedMs),
        ]),
      )
    },
    async spend(tenant, parked, limits, isCountWanted = false) {
      const args = [parked, MAX_COUNT_MS, COUNT_VALID_MS, nameOf(limits), isCountWanted ? 1 : 0]
      const [whole, isCountDue] = await redis[run]((commands) =>
        commands.runScript('deliveries/spend-parked-room', [parkedRoomKey(tenant)], args),
      )
      return { whole: whole === '' ? undefined : Number(whole), isCountDue: isCountDue === 1 }
    },
    async counts(tenant) {
      const counts = new Map<SubscriptionId, number>()
      for (const [scan, key] of [
        ['zscan', parkingSubscriptionsKey(tenant)],
        // Earlier versions parked without registering.
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
          const sizes = await redis[run]((commands) => Promise.all(ids.map((id) => commands.zcard(parkedKey(id)))))
          for (const [i, id] of ids.entries()) if ((sizes[i] ?? 0) > 0) counts.set(id, sizes[i] ?? 0)
          cursor = next
        } while (cursor !== '0')
      }
      return counts
    },
    async counted(tenant, limits, { whole, room, tookMs }) {
      const args = [whole, room, Math.ceil(REST_PER_COUNT * tookMs), COUNT_VALID_MS, nameOf(limits)]
      await redis[run]((commands) => commands.runScript('deliveries/note-parked-count', [parkedRoomKey(tenant)], args))
    },
    async trim(subscriptionId, { whole, total }) {
      const keys = [parkedKey(subscriptionId), parkedLimitKey(subscriptionId)]
      const crossedAgainBelow = Math.floor(whole * CROSSED_AGAIN_BELOW)
      const [count, drop, placed] = await redis[run]((commands) =>
        commands.runScript('deliveries/find-excess-parked', keys, [whole, total, RELEASED_AT_ONCE, crossedAgainBelow]),
      )
      const bodies = placed.filter((_, i) => i % 2 === 0)
      if (drop.length + bodies.length === 0) return { count, bodies: 0, dropped: 0, isDone: true }
      // Release first, then note: after a crash in between, the next call finds the entries again.
      const wasDropped = await release(drop, settledRetentionMs)
      const onlyBodies = bodies.filter((name) => !drop.includes(name))
      const released = await release(onlyBodies, '')
      const bodiesUntil = placed.at(-1) ?? ''
      const names = drop.filter((_, i) => wasDropped[i])
      const movedOn = drop.filter((_, i) => !wasDropped[i])
      const [dropped] = await redis[run]((commands) =>
        Promise.all([
          commands.runScript('deliveries/note-released-parked', keys, [
            parkedRetentionMs,
            bodiesUntil,
            whole,
            count,
            ...names,
          ]),
          movedOn.length > 0 ? commands.zrem(parkedKey(subscriptionId), ...movedOn) : 0,
        ]),
      )
      const isDone = drop.length < RELEASED_AT_ONCE && bodies.length < RELEASED_AT_ONCE
      return { count, bodies: released.filter(Boolean).length, dropped, isDone }
    },
    async unreported(subscriptionId) {
      const [crossedAt, limit, count, told] = await redis[run]((commands) =>
        commands.hmget(parkedLimitKey(subscriptionId), 'crossedAt', 'crossedLimit', 'crossedCount', 'told'),
      )
      if (crossedAt == null || told != null) return undefined
      return { crossedAtMs: Number(crossedAt), limit: Number(limit), count: Number(count) }
    },
    async markReported(subscriptionId, { crossedAtMs }) {
      await redis[run]((commands) =>
        commands.runScript('deliveries/mark-crossing-reported', [parkedLimitKey(subscriptionId)], [crossedAtMs]),
      )
    },
  }
}

/** Counts the parked deliveries of a subscription, for clients and recoveries. */
export interface ParkedCounter {
  count(subscriptionId: SubscriptionId): Promise<ParkedCount>
}

export function createParkedCounter(redis: Redis): ParkedCounter {
  return {
    async count(subscriptionId) {
      const keys = [parkedKey(subscriptionId), parkedLimitKey(subscriptionId)]
      const [count, withoutBody, dropped, bodiesUntil] = await redis[run]((commands) =>
        commands.runScript('deliveries/count-parked', keys, []),
      )
      return { count, withoutBody, dropped, bodiesUntil }
    },
  }
}
