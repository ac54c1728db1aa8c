import type { Logger } from '@switchhook/runtime'
import { type HeldLimitStore, type HeldStore, NEAR_HELD_LIMIT } from '@switchhook/store'
import { type LimiterDeps, startLimiter } from '../notices/limiter.ts'
import type { DeliverDeps } from '../pipeline/steps.ts'

export interface HeldLimiterDeps
  extends Pick<LimiterDeps, 'limits' | 'everyMs' | 'notice' | 'now'>,
    Pick<DeliverDeps, 'park' | 'noticeParked'> {
  readonly store: HeldLimitStore
  readonly held: Pick<HeldStore, 'receive' | 'remove'>
  readonly log: Pick<Logger, 'info' | 'warn'>
}

const PARKED_AT_ONCE = 250
/**
 * Longer than parking takes, and shorter than a client can lease: if the worker dies, a look gives the deliveries back and
 * counts no attempt.
 */
export const PARKING_LEASE_SECONDS = 9

/**
 * Keeps the held deliveries within limits. Beyond them, those that have been due for longest are parked, where the limits of
 * parked deliveries apply.
 */
export function startHeldLimiter(deps: HeldLimiterDeps) {
  const { store, held, park, noticeParked, log } = deps

  const trim: LimiterDeps['store']['trim'] = async ({ tenant, subscriptionId }, { whole }) => {
    const count = await store.count(subscriptionId, whole)
    const excess = count - whole
    if (excess <= 0) return { count, bodies: 0, dropped: 0, isDone: true }
    const most = Math.min(excess, PARKED_AT_ONCE)
    const oldest = await held.receive({ tenant, subscriptionId }, most, PARKING_LEASE_SECONDS)
    await Promise.all(
      oldest.map(async ({ delivery, lease }) => {
        await park(delivery, null, 'exhausted', 'held-limit')
        await noticeParked(delivery)
        await held.remove(subscriptionId, 'leased', [{ deliveryId: delivery.deliveryId, score: lease }])
      }),
    )
    // Fewer, if the others are not due or are with clients.
    return { count, bodies: 0, dropped: oldest.length, isDone: excess <= PARKED_AT_ONCE || oldest.length === 0 }
  }

  return startLimiter({
    ...deps,
    store: { ...store, trim },
    noticeBeyond: NEAR_HELD_LIMIT,
    released: ({ dropped: parked }, endpoint, limit) =>
      log.info('held deliveries exceed their limit, so the oldest are parked', { ...endpoint, limit, parked }),
  })
}
