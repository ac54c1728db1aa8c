import type { SubscriptionId } from '@switchhook/contracts'
import { createCrossingStore } from '../deliveries/crossing-store.ts'
import { createTenantRoom } from '../deliveries/tenant-room.ts'
import { heldKey, heldLimitKey, heldRoomKey, holdingSubscriptionsKey, leasedKey } from '../keys.ts'
import { type Redis, runScript } from '../redis/redis.ts'

/** The share of the limit of held deliveries beyond which there is a notice. */
export const NEAR_HELD_LIMIT = 0.8
/** After a crossing, the next one counts only if the held deliveries fell below this share of the limit. */
const CROSSED_AGAIN_BELOW = 0.7

export type HeldLimitStore = ReturnType<typeof createHeldLimitStore>

/**
 * Keeps the held deliveries within limits. Several workers may call every method concurrently.
 * @param retentionMs how long a delivery is held
 */
export const createHeldLimitStore = (redis: Redis, retentionMs: number) => ({
  ...createTenantRoom(redis, {
    subscriptionsKey: holdingSubscriptionsKey,
    roomKey: heldRoomKey,
    count: async (commands, id) => {
      const [held, leased] = await Promise.all([commands.zcard(heldKey(id)), commands.zcard(leasedKey(id))])
      return held + leased
    },
    retentionMs,
  }),
  ...createCrossingStore(redis, heldLimitKey),
  /** How many deliveries are held. Notes a crossing once they are more than `NEAR_HELD_LIMIT` of the limit. */
  async count(id: SubscriptionId, limit: number): Promise<number> {
    const keys = [heldKey(id), leasedKey(id), heldLimitKey(id)]
    const args = [limit, Math.floor(limit * NEAR_HELD_LIMIT), CROSSED_AGAIN_BELOW, retentionMs]
    return runScript(redis, 'held/count-held', keys, args)
  },
})
