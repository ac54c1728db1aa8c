import { type Attempt, type Delivery, isLeaseValid } from '@switchhook/contracts'
import type { Isolation, Source } from '../isolation/isolate.ts'
import type { Breaker } from '../policy/cooldown.ts'
import { decide, isTransientFailure } from '../policy/decide.ts'
import type { DeliveryListener } from '../reporting/listener.ts'
import { type AttemptDeps, createAttempt, type Result, type Sendable } from './attempt.ts'
import { createLook, type LookDeps } from './look.ts'
import { createSecure, type SecureDeps, type Standing } from './secure.ts'

/** The effects of delivering, as functions. */
export interface DeliverDeps
  extends Omit<LookDeps, 'unfinished' | 'breaker'>,
    Omit<AttemptDeps, 'breaker'>,
    SecureDeps {
  readonly isolation: Pick<Isolation, 'take' | 'wait' | 'noteAnswer' | 'release' | 'moveToLane'>
  readonly breaker: Breaker
  readonly settle: (delivery: Delivery, attempt: Attempt | null, standing: Standing) => Promise<void>
  readonly report: NonNullable<DeliveryListener['concluded']>
  /**
   * Publishes the notice of a parked delivery, if it is parked and its tenant subscribes to the notice. Resolves once the
   * broker has confirmed it. The notice is built from the stored record, so a repeat is identical.
   */
  readonly noticeParked: (delivery: Delivery) => Promise<void>
  /** Monotonic, in ms: the clock of the leases. */
  readonly nowMs: () => number
}

/**
 * Takes one due delivery through its slot. Resolves when its message may be acknowledged. Rejects only for failures of our
 * own (the broker or Redis is away); the message must then come back.
 */
export type Deliver = (due: Delivery, source: Source) => Promise<void>

/**
 * The steps of a delivery:
 * 1. isolate: take one of the subscription's turns
 * 2. look: read the ledger, admit the delivery, check the circuit breaker
 * 3. attempt: make the POST and classify its answer
 * 4. decide: acknowledged, retry, postpone, park or withdrawn
 * 5. secure: have the retry confirmed by the broker, or store the parked record
 * 6. settle: write the ledger
 * 7. report: call the listeners
 * 8. notice: publish the notice of a parked delivery
 *
 * The consumer then acknowledges the message.
 *
 * The order is the promise. A retry is confirmed by the broker, or a parked record stored, before the slot is settled. The
 * slot is settled before the message is acknowledged. The notice of a parked delivery follows the record that it is built
 * from and precedes the acknowledgement: if the worker dies in between, the message comes back, finds its slot settled and
 * publishes the notice. A crash at any point costs at most a duplicate POST. Without a crash, while only the broker or Redis
 * is away, the POST is not repeated: its result is kept in `unfinished` until it is settled.
 *
 * A delivery is looked at once, and the look travels with it. A delivery that waited for a turn is looked at again only if
 * the lease of its look has ended, this worker has seen the endpoint fail, or this worker has POSTed another copy of it. So
 * a look is at most one lease old when a turn begins, and it is safe to rely on it:
 * - Ledger: only a second copy of the message can have settled the slot since. The POST is then a duplicate, just as if the
 *   copy had settled the slot during the POST. `secure` rules out a second retry.
 * - Breaker: a cool-down that this worker began is always seen. If another worker began it within that time, each delivery
 *   that gets a turn before its lease ends is still POSTed, just like the attempts in flight. They are at most as many as
 *   the subscription has turns in that time.
 * - Subscription: a first attempt is written only while its lease is valid, whatever the look said.
 */
export function createDeliver(deps: DeliverDeps): Deliver {
  const { waitsMs, isolation, breaker, settle, report, noticeParked, nowMs } = deps
  const unfinished = createUnfinished()
  const look = createLook({ ...deps, unfinished: unfinished.of })
  const attempt = createAttempt(deps)
  const secure = createSecure(deps)
  const isFresh = ({ delivery, lease }: Sendable): boolean =>
    lease !== undefined && isLeaseValid(lease.trustedUntilMs, nowMs()) && !breaker.isFailing(delivery)

  const noteAnswer = ({ delivery, attempt: made, outcome }: Result): void => {
    if (made === null) return
    const isFailure = (outcome.kind === 'unreachable' || outcome.kind === 'answered') && isTransientFailure(outcome)
    isolation.noteAnswer(delivery, { durationMs: made.durationMs, isFailure })
  }

  return async (due, source) => {
    let hasTurn = isolation.take(due)
    try {
      let looked = await look(due)
      if (!hasTurn && needsTurn(looked)) {
        hasTurn = await isolation.wait(due, source)
        if (!hasTurn) return await isolation.moveToLane(due)
        // Another copy of the message may have been POSTed here meanwhile, without being settled.
        if (!isFresh(looked) || unfinished.of(due) !== undefined) looked = await look(due)
      }
      if (looked.kind === 'settled') {
        await Promise.all([noticeParked(due), looked.result?.noteOutcome()])
        return unfinished.forget(due)
      }
      const result = looked.kind === 'sendable' ? await attempt(looked) : looked
      if (looked.kind === 'sendable') noteAnswer(result)
      const noted = result.noteOutcome()
      try {
        const decision = decide(result.outcome, result.delivery.slot, waitsMs)
        const standing = await secure(result, decision)
        if (standing !== undefined) await settle(result.delivery, result.attempt, standing)
        report(result.delivery, result.attempt, decision, result.outcome)
        // Last: if it cannot be published, the message comes back and repeats the notice without the report.
        if (decision.kind === 'park') await noticeParked(result.delivery)
        // A copy that is withheld must not drop the result of a POST that is not settled yet.
        if (result.attempt !== null) unfinished.forget(due)
      } catch (error) {
        if (result.attempt !== null) unfinished.keep(due, result)
        throw error
      } finally {
        await noted
      }
    } finally {
      if (hasTurn) isolation.release(due)
    }
  }
}

/** Only an ordinary POST needs a turn. A probe does not: it is the one POST that decides about all the others. */
const needsTurn = (looked: Sendable | { readonly kind: 'result' | 'settled' }): looked is Sendable =>
  looked.kind === 'sendable' && looked.before.probe === undefined

/** More than a worker has in flight. Beyond it the oldest results are forgotten; each costs a duplicate POST. */
const MOST_UNFINISHED = 20_000

/** The results of POSTs whose slot could not be settled, by ledger key. Almost always empty. */
function createUnfinished() {
  const results = new Map<string, Result>()
  return {
    of: (due: Delivery): Result | undefined => (results.size === 0 ? undefined : results.get(ledgerKeyOf(due))),
    keep: (due: Delivery, result: Result): void => {
      results.set(ledgerKeyOf(due), result)
      const [oldest] = results.keys()
      if (results.size > MOST_UNFINISHED && oldest !== undefined) results.delete(oldest)
    },
    forget: (due: Delivery): void => {
      if (results.size > 0) results.delete(ledgerKeyOf(due))
    },
  }
}

const ledgerKeyOf = ({ deliveryId, run, slot }: Delivery): string => `${deliveryId} ${run} ${slot}`
