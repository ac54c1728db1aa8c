import { parseSubscriptionId, type SubscriptionId } from '@switchhook/contracts'
import type { Endpoint } from '../breaker/breaker-store.ts'
import { bodyKey, parkedKey, parkedLimitKey, parkingSubscriptionsKey, recordKey, subscriptionsKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import { toEntry } from './parked-index.ts'

/** How many of a subscription's parked deliveries are kept. */
interface ParkedAllowance {
  /** The newest ones, which keep their body. */
  readonly whole: number
  /** All that are kept, with or without a body. */
  readonly total: number
}

/** What one call of `trim` released. */
interface Trimmed {
  readonly bodies: number
  readonly dropped: number
  /** Another call has nothing to do. */
  readonly isDone: boolean
}

/** The moment at which a subscription's parked deliveries exceeded their limit; the same however often it is read. */
export interface Crossing {
  readonly crossedAtMs: number
  readonly limit: number
  /** How many were parked at that moment. */
  readonly count: number
}

export interface ParkedCount {
  readonly count: number
  /** Among them. */
  readonly withoutBody: number
  /** Beside them; since the subscription last lost one `parkedRetentionMs` ago or longer. */
  readonly dropped: number
  /** The bodies of deliveries that were parked up to here, in µs, are gone. */
  readonly bodiesUntil: string
}

/**
 * Keeps the parked deliveries within limits. Counts are always taken from the lists themselves: no counter exists that
 * could drift from them after a crash. Every method may run in several workers at once.
 */
export interface ParkedLimitStore {
  /** Call it before something is parked: a list that its tenant does not know would not count. */
  register(endpoint: Endpoint): Promise<void>
  /** How many deliveries are parked, for each subscription of the tenant, deleted ones included. */
  counts(tenant: string | null): Promise<ReadonlyMap<SubscriptionId, number>>
  /** Takes bodies and then deliveries that are beyond the allowance, the oldest first; a bounded number at a time. */
  trim(subscriptionId: SubscriptionId, allowance: ParkedAllowance): Promise<Trimmed>
  /** The last crossing, until `markReported`. */
  unreported(subscriptionId: SubscriptionId): Promise<Crossing | undefined>
  markReported(subscriptionId: SubscriptionId, crossing: Crossing): Promise<void>
}

export interface ParkedLimitOptions {
  readonly parkedRetentionMs: number
  /** How long the ledger of a dropped delivery is kept, against late copies of its message. */
  readonly settledRetentionMs: number
}

const DAY_MS = 86_400_000
/** Deliveries of each kind that one call releases: some milliseconds of Redis' time. */
const RELEASED_AT_ONCE = 250
/** A limit is crossed anew only after the number of bodies has been below this share of it, so that one notice is enough. */
const CROSSED_AGAIN_BELOW = 0.9

export function createParkedLimitStore(redis: Redis, options: ParkedLimitOptions): ParkedLimitStore {
  const { parkedRetentionMs, settledRetentionMs } = options
  const listedMs = parkedRetentionMs + DAY_MS

  /** @param keepMs how long the record is still kept; '': as long as before. Resolves to which names were released. */
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
      // The tenant's subscriptions are read as well, because earlier versions parked without registering.
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
      // Released before it is noted: a crash in between leaves entries that the next call finds again.
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

/** How many deliveries of a subscription are parked, for clients and recoveries. */
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
