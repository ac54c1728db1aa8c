import { type Delivery, type DeliveryId, parseDeliveryId } from '@switchhook/contracts'
import { type Endpoint, heldExtrasKey, heldKey, leasedKey, parkingKey, timedKeys } from '../keys.ts'
import { pipeline, type Redis } from '../redis/redis.ts'
import type { HeldVisits } from './held-visits.ts'
import { CUT_AT_ONCE, type Cut, createTenantSizes, extraUnitsOf, type StorageLimits } from './tenant-sizes.ts'

/** Held deliveries beyond a limit, for the caller to park. After `score`, ms since 1970, a visit does it. */
export interface HeldExcess extends Endpoint {
  readonly entries: readonly { readonly deliveryId: DeliveryId; readonly score: string }[]
}

/** Longer than parking takes. */
const PARKING_LEASE_MS = 9_000
const SECOND_MS = 1_000

/**
 * The lists of held deliveries, within limits. Beyond them, those that have been due for longest are claimed, to be parked.
 * @param retentionMs how long a delivery is held
 */
export function createHeldList(redis: Redis, visits: HeldVisits, retentionMs: number, limits: StorageLimits) {
  const sizes = createTenantSizes(redis, 'held', limits, retentionMs)

  async function addAndClaim(endpoint: Endpoint, { keep, most }: Cut, listed: readonly (string | number)[] = []) {
    const { tenant, subscriptionId: id } = endpoint
    const args = [keep, most, PARKING_LEASE_MS, retentionMs, ...listed]
    const keys = [heldKey(id), leasedKey(id), parkingKey(id), heldExtrasKey(id)]
    const [, [isFirst, before, size, lease, ...claimed]] = await pipeline(redis, (commands) => [
      commands.runScript('held/keep-time', timedKeys(id), []),
      commands.runScript('held/add-held', keys, args),
    ])
    const entries = claimed.map((deliveryId) => ({ deliveryId: parseDeliveryId(deliveryId), score: lease }))
    const excess: HeldExcess = { tenant, subscriptionId: id, entries }
    return { isFirst: isFirst === 1, before, size, taken: claimed.length, excess }
  }

  /** Asks for a visit first: a lease that no worker visits would never end. The visit also publishes a notice. */
  async function cut(endpoint: Endpoint, what: Cut) {
    await visits.askFor(endpoint, PARKING_LEASE_MS + SECOND_MS)
    const claimed = await addAndClaim(endpoint, what)
    await visits.askFor(endpoint, 0)
    return claimed
  }

  return {
    /**
     * Lists a delivery, and asks for a visit to its list.
     * @param visitInMs in how many ms a worker visits it; `isFirst`: it is the first of its list
     * @param isKnown it may be listed or leased already, and then stays so
     * @returns what has to be parked because of the limits
     */
    async add(
      delivery: Pick<Delivery, 'tenant' | 'subscriptionId' | 'deliveryId' | 'body' | 'attempt'>,
      { dueAtMs, isKnown, visitInMs }: { dueAtMs: number; isKnown: boolean; visitInMs: (isFirst: boolean) => number },
    ): Promise<readonly HeldExcess[]> {
      const own = { keep: limits.perSubscription, most: CUT_AT_ONCE }
      const listed = [delivery.deliveryId, Math.floor(dueAtMs), isKnown ? 1 : 0, extraUnitsOf(delivery)]
      const { isFirst, excess, ...sized } = await addAndClaim(delivery, own, listed)
      const recorded = await sizes.record(delivery, sized)
      // A visit publishes the notice, and parks what this worker does not.
      const soonMs = recorded.isNoticeDue ? 0 : excess.entries.length > 0 ? PARKING_LEASE_MS + SECOND_MS : Infinity
      await visits.askFor(delivery, Math.min(visitInMs(isFirst), soonMs))
      const cuts = await sizes.cutLongest(recorded, cut, delivery)
      return [excess, ...cuts.map((each) => each.excess)].filter(({ entries }) => entries.length > 0)
    },
  }
}
