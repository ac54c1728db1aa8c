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
import { pipeline, type Redis, runScript } from '../redis/redis.ts'
import { createCrossingStore } from './crossing-store.ts'
import type { DeliveryRetention } from './delivery-store.ts'
import { toEntry } from './parked-index.ts'
import { createTenantRoom } from './tenant-room.ts'

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
    /**
     * Releases a bounded number of bodies and deliveries beyond an allowance, the oldest first.
     * @param allowance `whole`: the newest deliveries, which keep their body; `total`: all that are kept
     * @returns `count`: how many were parked before; `isDone`: no further call is needed
     */
    async trim({ subscriptionId }: Endpoint, allowance: { whole: number; total: number }) {
      const { whole, total } = allowance
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

export type ParkedCount = Awaited<ReturnType<ReturnType<typeof createParkedCounter>['count']>>

export const createParkedCounter = (redis: Redis) => ({
  /**
   * @returns `count` includes those `withoutBody`, and not those `dropped`, which start at 0 again if nothing was released for
   *   `parkedRetentionMs`; deliveries that were parked up to `bodiesUntil` (µs) have no body
   */
  async count(subscriptionId: SubscriptionId) {
    const keys = [parkedKey(subscriptionId), parkedLimitKey(subscriptionId)]
    const [count, withoutBody, dropped, bodiesUntil] = await runScript(redis, 'deliveries/count-parked', keys)
    return { count, withoutBody, dropped, bodiesUntil }
  },
})
