import type { Delivery, Subscription } from '@switchhook/contracts'
import { heldEntriesOf } from '../held/held-leases.ts'
import { clockKey, heldKey, inFlightKey, leasedKey, postedKey } from '../keys.ts'
import { type Redis, runScript } from '../redis/redis.ts'

export type LimitedSubscription = Pick<Subscription, 'id' | 'maxInFlight' | 'maxPerSecond'>

interface Wanted {
  readonly permit: string
  /** A permit of the same POST, of which nothing is in flight any more. */
  readonly former?: string | undefined
  readonly delivery: Pick<Delivery, 'deliveryId'>
  readonly isNew: boolean
}

/** How long after it was asked for a permit may be used. A worker that stalls takes another one. */
export const PERMIT_VALID_MS = 100
/** A request can be written up to `PERMIT_VALID_MS` after its permit was taken, so any second has only those of a longer window. */
const WINDOW_MS = 1_000 + PERMIT_VALID_MS
/**
 * Longer than a delivery usually takes from a worker that passes it on to the one that sends it, also while workers are behind:
 * without its reservation it is held again.
 */
const RESERVED_MS = 5_000
/** Longer than publishing takes. If the worker dies, a visit gives the deliveries back. */
const LEASE_SECONDS = 30

/** The same for both scripts. */
const keysOf = (id: LimitedSubscription['id']) => [inFlightKey(id), postedKey(id), heldKey(id), clockKey(id)]

const limitsOf = ({ maxInFlight, maxPerSecond }: LimitedSubscription) => [maxInFlight ?? '', maxPerSecond ?? '']

export type PermitStore = ReturnType<typeof createPermitStore>

/**
 * The permits of subscriptions with limits, over all workers. Each POST needs one. All times are Redis' own.
 * A permit that is not ended, because its worker died, expires.
 * @param inFlightMs longer than any POST
 */
export const createPermitStore = (redis: Redis, inFlightMs: number) => ({
  /**
   * Takes a permit, which allows to write one request within `PERMIT_VALID_MS` of the call. False: none is free, or the
   * delivery is new and others are held.
   */
  async take(limited: LimitedSubscription, { permit, former = '', delivery, isNew }: Wanted): Promise<boolean> {
    const args = [permit, former, delivery.deliveryId, ...limitsOf(limited), inFlightMs, WINDOW_MS, isNew ? 1 : 0]
    return (await runScript(redis, 'permits/take-permit', keysOf(limited.id), args)) === 1
  },
  /**
   * Leases held deliveries to this worker, as many as permits are free, and reserves these for a moment.
   * @param options `ended`: a permit whose POST has ended; `unused`: deliveries that were passed on and need no permit
   * @returns `entries`: the longest held first; they have gone on if their message is gone. `nextInMs`: when the next
   *   delivery may have a permit, in ms from now; null: when a POST ends, or nothing is held
   */
  async reserve(
    limited: LimitedSubscription,
    options: { readonly most: number; readonly ended?: string | undefined; readonly unused?: readonly string[] },
  ) {
    const { most, ended = '', unused = [] } = options
    const keys = [...keysOf(limited.id), leasedKey(limited.id)]
    const args = [most, LEASE_SECONDS, ended, ...limitsOf(limited), RESERVED_MS, WINDOW_MS, ...unused]
    const [nextInMs, ...leased] = await runScript(redis, 'permits/reserve-permits', keys, args)
    return { entries: heldEntriesOf(leased), nextInMs: nextInMs < 0 ? null : nextInMs }
  },
})
