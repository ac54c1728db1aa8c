import type { Delivery } from '@switchhook/contracts'
import type { HeldStore } from '@switchhook/store'
import type { DeliverDeps } from '../pipeline/steps.ts'

export interface LimitHeldDeps extends Pick<DeliverDeps, 'park' | 'noticeParked'> {
  readonly held: Pick<HeldStore, 'counts' | 'receive' | 'remove'>
  /** How many deliveries of a subscription may be held. */
  readonly limit: number
}

/** More than one, so that the limit is reached again after it was exceeded. */
const PARKED_AT_ONCE = 10
/** Longer than parking takes. If the worker dies, a look gives the deliveries back. */
const LEASE_SECONDS = 30

/**
 * Call it after a delivery was held. Beyond the limit, those that have been due for longest are parked, where the limits of
 * parked deliveries apply.
 */
export function createLimitHeld({ held, limit, park, noticeParked }: LimitHeldDeps) {
  return async ({ tenant, subscriptionId }: Delivery): Promise<void> => {
    const [counted] = await held.counts([subscriptionId])
    const excess = Math.min((counted?.count ?? 0) - limit, PARKED_AT_ONCE)
    if (excess <= 0) return
    const oldest = await held.receive({ tenant, subscriptionId }, excess, LEASE_SECONDS)
    await Promise.all(
      oldest.map(async ({ delivery, lease }) => {
        await park(delivery, null, 'exhausted')
        await noticeParked(delivery)
        await held.remove(subscriptionId, 'leased', [{ deliveryId: delivery.deliveryId, score: lease }])
      }),
    )
  }
}
