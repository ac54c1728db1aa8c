import type { SubscriptionId } from '@switchhook/contracts'
import {
  bodyKey,
  type Endpoint,
  parkedKey,
  parkedLimitKey,
  parkedRoomKey,
  parkingSubscriptionsKey,
  recordKey,
} from '../keys.ts'
import { pipeline, type Redis, run, runScript } from '../redis/redis.ts'
import type { DeliveryRetention } from './delivery-store.ts'
import { toEntry } from './parked-index.ts'
import { createTenantRoom } from './tenant-room.ts'

/** How many of a subscription's parked deliveries are kept. */
interface ParkedAllowance {
  /** The newest deliveries, which keep their body. */
  readonly whole: number
  /** All deliveries that are kept, with or without a body. */
  readonly total: number
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

/** When the parked or held deliveries of a subscription crossed a limit. It stays the same until the next crossing. */
export interface Crossing {
  readonly crossedAtMs: number
  readonly limit: number
  /** How many there were then. */
  readonly count: number
}

export type CrossingStore = ReturnType<typeof createCrossingStore>

/** @param keyOf the hash with the fields `crossedAt`, `crossedLimit`, `crossedCount` and `told` */
export const createCrossingStore = (redis: Redis, keyOf: (id: SubscriptionId) => string) => ({
  /** The last crossing, unless it was reported. */
  async unreported(subscriptionId: SubscriptionId): Promise<Crossing | undefined> {
    const [crossedAt, limit, count, told] = await redis[run]((commands) =>
      commands.hmget(keyOf(subscriptionId), 'crossedAt', 'crossedLimit', 'crossedCount', 'told'),
    )
    if (crossedAt == null || told != null) return undefined
    return { crossedAtMs: Number(crossedAt), limit: Number(limit), count: Number(count) }
  },
  async markReported(subscriptionId: SubscriptionId, { crossedAtMs }: Crossing): Promise<void> {
    await runScript(redis, 'redis/mark-reported', [keyOf(subscriptionId)], ['crossedAt', crossedAtMs])
  },
})

export interface ParkedCount {
  readonly count: number
  /** Included in `count`. */
  readonly withoutBody: number
  /** Not included in `count`. Starts at 0 again if nothing was released for `parkedRetentionMs`. */
  readonly dropped: number
  /** Deliveries that were parked up to this time (µs) have no body. */
  readonly bodiesUntil: string
}

export type ParkedLimitStore = ReturnType<typeof createParkedLimitStore>

/** Bodies, and deliveries, that one call releases at most: a few milliseconds of Redis' time. */
const RELEASED_AT_ONCE = 250
/** After a crossing, the next one counts only if the bodies fell below this share of the limit: one notice is enough. */
const CROSSED_AGAIN_BELOW = 0.9

/**
 * Keeps the parked deliveries within limits. Several workers may call every method concurrently.
 * @param retention `settledRetentionMs`: how long the ledger of a dropped delivery is kept, against late copies of its message
 */
export function createParkedLimitStore(
  redis: Redis,
  { parkedRetentionMs, settledRetentionMs }: Pick<DeliveryRetention, 'parkedRetentionMs' | 'settledRetentionMs'>,
) {
  /** Resolves to whether each was released. @param keepMs how long the record is still kept; '': as long as before */
  async function release(names: readonly string[], keepMs: number | ''): Promise<boolean[]> {
    return pipeline(redis, (commands) =>
      names.map(async (name) => {
        const { deliveryId, run: parkedRun } = toEntry({ member: name, since: '' })
        const keys = [recordKey(deliveryId), bodyKey(deliveryId)]
        return (await commands.runScript('deliveries/release-parked', keys, [parkedRun, keepMs])) === 1
      }),
    )
  }

  return {
    ...createTenantRoom(redis, {
      subscriptionsKey: parkingSubscriptionsKey,
      roomKey: parkedRoomKey,
      count: (commands, id) => commands.zcard(parkedKey(id)),
      retentionMs: parkedRetentionMs,
    }),
    ...createCrossingStore(redis, parkedLimitKey),
    /** Releases a bounded number of bodies and deliveries beyond the allowance, the oldest first. */
    async trim({ subscriptionId }: Endpoint, { whole, total }: ParkedAllowance): Promise<Trimmed> {
      const keys = [parkedKey(subscriptionId), parkedLimitKey(subscriptionId)]
      const bounds = [whole, total, RELEASED_AT_ONCE, Math.floor(whole * CROSSED_AGAIN_BELOW)]
      const [count, drop, placed] = await runScript(redis, 'deliveries/find-excess-parked', keys, bounds)
      const bodies = placed.filter((_, i) => i % 2 === 0)
      if (drop.length + bodies.length === 0) return { count, bodies: 0, dropped: 0, isDone: true }
      // Release first, then note: after a crash in between, the next call finds the entries again.
      const wasDropped = await release(drop, settledRetentionMs)
      const onlyBodies = bodies.filter((name) => !drop.includes(name))
      const released = await release(onlyBodies, '')
      const names = drop.filter((_, i) => wasDropped[i])
      const movedOn = drop.filter((_, i) => !wasDropped[i])
      const args = [parkedRetentionMs, placed.at(-1) ?? '', whole, count, ...names]
      const [dropped] = await pipeline(redis, (commands) => [
        commands.runScript('deliveries/note-released-parked', keys, args),
        movedOn.length > 0 ? commands.zrem(parkedKey(subscriptionId), ...movedOn) : 0,
      ])
      const isDone = drop.length < RELEASED_AT_ONCE && bodies.length < RELEASED_AT_ONCE
      return { count, bodies: released.filter(Boolean).length, dropped, isDone }
    },
  }
}

export type ParkedCounter = ReturnType<typeof createParkedCounter>

/** Counts the parked deliveries of a subscription, for clients and recoveries. */
export function createParkedCounter(redis: Redis) {
  return {
    async count(subscriptionId: SubscriptionId): Promise<ParkedCount> {
      const keys = [parkedKey(subscriptionId), parkedLimitKey(subscriptionId)]
      const [count, withoutBody, dropped, bodiesUntil] = await runScript(redis, 'deliveries/count-parked', keys)
      return { count, withoutBody, dropped, bodiesUntil }
    },
  }
}
