import type { Delivery, Outcome, ScheduleOf, SubscriptionId } from '@switchhook/contracts'
import type { BreakerStore } from '@switchhook/store'
import { LRUCache } from 'lru-cache'
import { resultOf } from '../policy/classify.ts'
import { isTransientFailure, postponementsMs } from '../policy/decide.ts'
import type { EndpointState } from './admit.ts'
import { HANGING_MS } from './hanging-limit.ts'

/*
 * The worker's side of the circuit breaker, whose states are in packages/store/src/breaker/breaker-store.ts. While it is open,
 * a delivery that falls due uses up its slot, and a last slot is postponed. While it is probing, all but the probe are postponed.
 * A rejection (a 4xx, for example) shows that the endpoint works, as a 2xx does. A failure of the operator's proxy says nothing
 * about the endpoint; a probe that met it lapses.
 */

/** The state of an endpoint when its POST began. */
export interface Before extends Pick<EndpointState, 'health' | 'rejected'> {
  /** The probe that this worker claimed for the POST. */
  readonly probe: string | undefined
}

/**
 * More endpoints than fail within an attempt's time. Beyond it the oldest are forgotten: a success may leave the failure
 * count of such an endpoint unchanged once.
 */
const MAX_FAILING = 10_000

export type Breaker = ReturnType<typeof createBreaker>

interface BreakerDeps {
  readonly store: Pick<BreakerStore, 'claimProbe' | 'giveUpProbe' | 'recordFailure' | 'recordAnswer'>
  /** How long an attempt can take, and how long a claimed probe is valid. */
  readonly maxAttemptMs: number
  /** Called when a cool-down begins, with the `Retry-After` that began it. */
  readonly opened: (subscriptionId: string, retryAfterMs: number | undefined) => void
  /**
   * Publish the notices of an outage: `failing` is called with every cool-down, `recovered` before the breaker closes.
   * Neither rejects.
   */
  readonly notices: Readonly<Record<'failing' | 'recovered', (delivery: Delivery) => Promise<void>>>
  /** Bounds a `Retry-After`: one that is longer than a last slot is postponed would park deliveries without an attempt. */
  readonly scheduleOf: ScheduleOf
}

/**
 * Reports outcomes to the breaker. A success from an endpoint without failures writes nothing: neither the look before the
 * POST nor this worker's own POSTs since have shown one, nor one that hung among the last results.
 */
export function createBreaker({ store, maxAttemptMs, opened, notices, scheduleOf }: BreakerDeps) {
  // A POST that began before the failure does not know of it, and has ended after `maxAttemptMs`. Later ones find the failure
  // in their look, so dead endpoints and deleted subscriptions need no longer entry.
  const failing = new LRUCache<SubscriptionId, true>({ max: MAX_FAILING, ttl: maxAttemptMs })
  return {
    /** Undefined: another worker makes the probe. */
    claimProbe: (delivery: Delivery): Promise<string | undefined> => store.claimProbe(delivery, maxAttemptMs),
    /** Lets another delivery be the probe, because this one is not sent now. */
    giveUpProbe: (delivery: Delivery, probe: string): Promise<void> => store.giveUpProbe(delivery, probe),
    /** Whether a POST of this worker to the endpoint failed a moment ago, and none was answered since. Reads no store. */
    isFailing: ({ subscriptionId }: Delivery): boolean => failing.has(subscriptionId),
    record: async (delivery: Delivery, outcome: Outcome, { health, probe }: Before, durationMs: number) => {
      const { subscriptionId } = delivery
      if (outcome.kind === 'unreachable' && outcome.reason === 'proxy') return
      if (isTransientFailure(outcome)) {
        failing.set(subscriptionId, true)
        const asked = outcome.kind === 'answered' ? outcome.retryAfterMs : undefined
        const longestMs = postponementsMs(scheduleOf(delivery)).reduce((sum, waitMs) => sum + waitMs, 0)
        const retryAfterMs = asked && Math.min(asked, longestMs)
        const hung = durationMs >= HANGING_MS
        if (await store.recordFailure(delivery, probe, { ...resultOf(outcome), retryAfterMs, hung })) {
          opened(subscriptionId, retryAfterMs)
          await notices.failing(delivery)
        }
      } else if (health.consecutiveFailures > 0 || health.recentHangs > 0 || failing.has(subscriptionId)) {
        await notices.recovered(delivery)
        await store.recordAnswer(delivery)
        failing.delete(subscriptionId)
      }
    },
  }
}
