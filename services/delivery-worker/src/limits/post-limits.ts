import { randomUUID } from 'node:crypto'
import { type Delivery, isSent, type Subscription } from '@switchhook/contracts'
import type { Broker } from '@switchhook/messaging'
import type { Logger } from '@switchhook/runtime'
import { type HeldStore, PERMIT_VALID_MS, type PermitStore } from '@switchhook/store'
import type { Clocks } from '../clocks.ts'
import type { Posted, TakePermit } from '../http/post-under-lease.ts'
import { isTransientFailure, type Withheld } from '../policy/decide.ts'
import { PUBLISHED_AT_ONCE, type PublishHeldDeps, publishHeld } from './publish-held.ts'

export interface PostLimitsDeps extends Clocks {
  readonly broker: Pick<Broker, 'publishDelivery' | 'publishYielding'>
  readonly permits: PermitStore
  readonly held: PublishHeldDeps['held'] & Pick<HeldStore, 'due'>
  readonly log: Pick<Logger, 'warn'>
}

export type PostLimits = ReturnType<typeof createPostLimits>

/** How often permits go to other deliveries, if some do not need theirs. Each pass publishes two parts at most, so that no visit publishes without end. */
const MAX_PASSES = 4

/**
 * Keeps a subscription within its limits. What is over is held, and goes on when a POST ends or at a worker's next visit. The
 * permits of a worker that dies expire.
 */
export function createPostLimits(deps: PostLimitsDeps) {
  const { broker, permits, held, redisNow, nowMs, log } = deps
  const passing = new Set<Promise<unknown>>()

  /**
   * Publishes held deliveries, as many as permits are free. Resolves to when more may be, in ms from now; null: not known.
   * @param options `areManyYielding`: publish no more than permits are free, also of deliveries that end without a POST.
   *   `ended`: a permit whose POST has ended
   */
  async function passOn(
    limited: Subscription,
    { most = PUBLISHED_AT_ONCE, areManyYielding = false, ended = '' } = {},
  ): Promise<number | null> {
    // Its delivery has gone on, or ends without a POST.
    const needsNoPermit = (delivery: Delivery | undefined): boolean =>
      delivery === undefined || !isSent(limited, delivery, redisNow())
    // The permits bound how many are due at once. Any number can end without a POST, so these give way to all others.
    const publish = (delivery: Delivery): Promise<void> =>
      needsNoPermit(delivery) ? broker.publishYielding(delivery) : broker.publishDelivery(delivery)
    let given: Parameters<PermitStore['reserve']>[1] = { most, ended }
    for (let pass = 1; ; pass++) {
      const { entries, nextInMs } = await permits.reserve(limited, given)
      const published = await publishHeld({ held, publish }, limited.id, 'leased', entries, () => true)
      const unused = published.filter(({ delivery }) => needsNoPermit(delivery)).map(({ entry }) => entry.deliveryId)
      // After a full part, more permits may be free.
      if (unused.length === 0) return nextInMs ?? (entries.length === PUBLISHED_AT_ONCE ? 0 : null)
      const isLast = areManyYielding || pass === MAX_PASSES
      if (isLast) return (await permits.reserve(limited, { most: 0, unused })).nextInMs ?? 0
      given = { most, unused }
      // Probably what follows ends without a POST, too. With few permits, it would take long one by one.
      const following = await held.due(limited.id, { most: PUBLISHED_AT_ONCE })
      await publishHeld({ held, publish: broker.publishYielding }, limited.id, 'held', following, needsNoPermit)
    }
  }

  /** Not awaited by the delivery: a permit that cannot be ended expires, and a visit passes on what is held. */
  function end(limited: Subscription, permit: string, most: number): void {
    const passed = passOn(limited, { most, areManyYielding: true, ended: permit })
      .catch((error: unknown) => {
        log.warn('could not pass on held deliveries; will retry', { subscriptionId: limited.id, error })
      })
      .finally(() => passing.delete(passed))
    passing.add(passed)
  }

  return {
    passOn,
    /**
     * Makes a POST. If the subscription is `limited`, `post` gets the function that takes a permit for each request that it
     * writes. The last permit ends with the POST.
     * @param isProbe it ends a cool-down, so it goes before what is held
     */
    async withPermits(
      limited: Subscription | undefined,
      delivery: Delivery,
      isProbe: boolean,
      post: (take?: TakePermit) => Promise<Posted | Withheld>,
    ): Promise<Posted | Withheld> {
      if (limited === undefined) return await post()
      let current = limited
      let permit: string | undefined
      const take: TakePermit = async (wasWritten, renewed) => {
        const askedAtMs = nowMs()
        const former = permit
        current = renewed ?? current
        // A request that was written still counts in its second.
        if (permit === undefined || wasWritten) permit = randomUUID()
        const isNew = delivery.token === undefined && former === undefined && !isProbe
        if (await permits.take(current, { permit, former, delivery, isNew })) return askedAtMs + PERMIT_VALID_MS
        permit = undefined
        return undefined
      }
      let isWorking = false
      try {
        const posted = await post(take)
        // A cool-down may have begun, or the one that this probe ends may not have ended yet, which a visit knows.
        isWorking = posted.kind === 'posted' && !isProbe && !isTransientFailure(posted.outcome)
        return posted
      } finally {
        if (permit !== undefined && current.maxInFlight !== undefined)
          end(current, permit, isWorking ? PUBLISHED_AT_ONCE : 0)
      }
    },
    /** Resolves once nothing is being passed on. */
    async ended(): Promise<void> {
      await Promise.all(passing)
    },
  }
}
