import { parseSubscriptionId, type SubscriptionId } from '@switchhook/contracts'
import type { Endpoint } from '../breaker/breaker-store.ts'
import { bodyKey, parkedKey, parkedLimitKey, parkingSubscriptionsKey, recordKey, subscriptionsKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import { toEntry } from './parked-index.ts'

/** How many of a subscription's parked deliveries are kept. */
interface ParkedAllowance {
  /** The newest deliveries, which keep their body. */
  readonly whole: number
  /** All deliveries that are kept, with or without a body. */
  readonly total: number
}

/** The result of one call of `trim`. */
interface Trimmed {
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
 * Keeps the parked deliveries within limits. It counts the lists themselves, so no counter can drift after a crash.
 * Several workers may call every method at once.
 */
export interface ParkedLimitStore {
  /** Call it before parking a delivery: a list that is not registered with its tenant does not count. */
  register(endpoint: Endpoint): Promise<void>
  /** How many deliveries are parked, for each subscription of the tenant, deleted ones included. */
  counts(tenant: string | null): Promise<ReadonlyMap<SubscriptionId, number>>
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
/** After a crossing, the next one counts only if the bodies fell below this share of the limit: one notice is enough. */
const CROSSED_AGAIN_BELOW = 0.9

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
    async counts(tenant) {
      // Existing subscriptions are included, because earlier versions parked without registering.
      const [registered, existing] = await redis[run]((commands) =>
        Promise.all([
          commands.zrange(parkingSubscriptionsKey(tenant), '0', '-1'),
          commands.hkeys(subscriptionsKey(tenant)),
        ]),
      )
      const ids = [...new Set([...registered, ...existing])].map(parseSubscriptionId)
      const counts = await redis[run]((commands) => Promise.all(ids.map((id) => commands.zcard(parkedKey(id)))))
      return new Map(ids.map((id, i) => [id, counts[i] ?? 0]))
    },
    async trim(subscriptionId, { whole, total }) {
      const keys = [parkedKey(subscriptionId), parkedLimitKey(subscriptionId)]
      const crossedAgainBelow = Math.floor(whole * CROSSED_AGAIN_BELOW)
      const [count, drop, placed] = await redis[run]((commands) =>
        commands.runScript('deliveries/find-excess-parked', keys, [whole, total, RELEASED_AT_ONCE, crossedAgainBelow]),
      )
      const bodies = placed.filter((_, i) => i % 2 === 0)
      if (drop.length + bodies.length === 0) return { bodies: 0, dropped: 0, isDone: true }
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
      return { bodies: released.filter(Boolean).length, dropped, isDone }
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
