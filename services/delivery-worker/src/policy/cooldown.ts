import type { Delivery, Outcome, Postponement, SubscriptionId } from '@switchhook/contracts'
import type { BreakerStore, EndpointHealth } from '@switchhook/store'
import { resultOf } from './classify.ts'
import { isTransientFailure } from './decide.ts'

/*
 * The worker's side of the circuit breaker. States and transitions: breaker-store.ts in packages/store.
 *
 * - closed: every delivery is POSTed.
 * - open: nothing is POSTed. A delivery that falls due uses up its slot; one in its last slot is postponed instead.
 * - probing: one worker makes the probe, the one POST that decides. All other deliveries are treated as while open.
 *
 * A 2xx and a rejection (a 4xx, for example) both show that the endpoint works, so both close the breaker. An answer to a
 * POST that began before the breaker opened also closes it. A failure of such a POST changes nothing.
 */

/** The state of an endpoint when its POST began. */
export interface Before {
  readonly health: EndpointHealth
  /** The probe that this worker claimed for the POST. */
  readonly probe: string | undefined
}

/** Decides for all workers whether an endpoint is contacted. */
export interface Breaker {
  /** Undefined: another worker makes the probe. */
  readonly claimProbe: (delivery: Delivery) => Promise<string | undefined>
  readonly note: (delivery: Delivery, outcome: Outcome, before: Before) => Promise<void>
  /** Whether this worker's last POST to the endpoint failed. Reads no store; true also for an unknown state. */
  readonly isFailing: (delivery: Delivery) => boolean
}

/** Publishes the notices of an outage. Neither function rejects: a failed notice never affects the breaker. */
export interface OutageNotices {
  /** Called with every cool-down; publishes one notice per outage. */
  readonly failing: (delivery: Delivery) => Promise<void>
  /** Called before the breaker closes. */
  readonly recovered: (delivery: Delivery) => Promise<void>
}

const NO_NOTICES: OutageNotices = { failing: async () => {}, recovered: async () => {} }

/**
 * More endpoints than fail at a time. For one beyond it, a success may leave the failure count unchanged once, and no
 * delivery relies on an older look.
 */
const MOST_FAILING = 10_000

/**
 * Reports outcomes to the breaker. A success from an endpoint without failures writes nothing: neither the look before the
 * POST nor this worker's own POSTs since have shown one.
 * @param leaseMs how long a claimed probe is valid; longer than an attempt can take
 * @param opened called when a cool-down begins
 */
export function createBreaker(
  store: Pick<BreakerStore, 'claimProbe' | 'noteFailure' | 'noteAnswer'>,
  leaseMs: number,
  opened: (subscriptionId: string) => void,
  notices: OutageNotices = NO_NOTICES,
): Breaker {
  const failing = new Set<SubscriptionId>()
  return {
    claimProbe: (delivery) => store.claimProbe(delivery, leaseMs),
    isFailing: ({ subscriptionId }) => failing.size >= MOST_FAILING || failing.has(subscriptionId),
    note: async (delivery, outcome, { health, probe }) => {
      const { subscriptionId } = delivery
      if (isTransientFailure(outcome)) {
        if (failing.size < MOST_FAILING) failing.add(subscriptionId)
        if (await store.noteFailure(delivery, probe, resultOf(outcome))) {
          opened(subscriptionId)
          await notices.failing(delivery)
        }
      } else if (health.consecutiveFailures > 0 || failing.has(subscriptionId)) {
        await notices.recovered(delivery)
        await store.noteAnswer(delivery)
        failing.delete(subscriptionId)
      }
    },
  }
}

/**
 * How long a delivery in its last slot is postponed: one cool-down first, then the longer waits of the schedule one after
 * the other. A large backlog for a dead endpoint then costs the broker few messages.
 */
export function postponeMs(postponed: number, waitsMs: readonly number[], cooldownMs: number): number {
  const longer = waitsMs.filter((waitMs) => waitMs > cooldownMs).toSorted((a, b) => a - b)
  return postponed === 0 ? cooldownMs : (longer[postponed - 1] ?? longer.at(-1) ?? cooldownMs)
}

/** Adds a wait to a postponement, or begins one. `openUntilMs`: the end of the endpoint's current cool-down. */
export const postponedBy = (
  waitMs: number,
  { postponement }: Pick<Delivery, 'postponement'>,
  openUntilMs: number,
): Postponement => ({
  waitedMs: (postponement?.waitedMs ?? 0) + waitMs,
  openUntilMs: postponement?.openUntilMs ?? openUntilMs,
})

/**
 * Whether a last slot has been postponed long enough to give up: at least as long as the longest wait of the schedule, with
 * another failure of the endpoint since. Without this limit the backlog of a dead endpoint would grow without end, because
 * one probe per cool-down ends far fewer deliveries than arrive. A message that an earlier version of the worker postponed
 * carries no postponement; it is postponed once more.
 * @param openUntilMs the end of the endpoint's current cool-down
 */
export function isPostponedLongEnough(
  { postponement }: Pick<Delivery, 'postponement'>,
  openUntilMs: number,
  waitsMs: readonly number[],
): boolean {
  if (postponement === undefined) return false
  return postponement.waitedMs >= Math.max(0, ...waitsMs) && postponement.openUntilMs !== openUntilMs
}
