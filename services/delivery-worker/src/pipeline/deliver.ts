import { type Attempt, type Delivery, isLeaseValid } from '@switchhook/contracts'
import type { Isolation, Source } from '../isolation/isolate.ts'
import type { Breaker } from '../policy/cooldown.ts'
import { decide } from '../policy/decide.ts'
import type { DeliveryListener } from '../reporting/listener.ts'
import { type AttemptDeps, createAttempt, type Result, type Sendable } from './attempt.ts'
import { createLook, type LookDeps } from './look.ts'
import { createSecure, type SecureDeps, type Standing } from './secure.ts'

/** The effects of delivering, as functions. */
export interface DeliverDeps
  extends Omit<LookDeps, 'unfinished' | 'breaker'>,
    Omit<AttemptDeps, 'breaker'>,
    SecureDeps {
  readonly isolation: Pick<Isolation, 'take' | 'wait' | 'release' | 'moveToLane'>
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
 * The steps of a delivery: isolate, look, post (and classify), decide, secure, settle, report, notice. The consumer then
 * acknowledges the message.
 *
 * The order is the promise. A retry is confirmed by the broker, or a parked record stored, before the slot is settled. The
 * slot is settled before the message is acknowledged. The notice of a parked delivery follows the record that it is built
 * from and precedes the acknowledgement: if the worker dies in between, the message comes back, finds its slot settled and
 * publishes the notice. A crash at any point costs at most a duplicate POST. Without a crash, while only the broker or Redis
 * is away, the POST is not repeated: its result is kept in `unfinished` until it is settled.
 *
 * A delivery is looked at once. Only if it waited for a turn and the lease of its look ended meanwhile is it looked at again,
 * so no delivery is POSTed on a look that was older than a lease when its turn began:
 * - The ledger may be up to a lease old. Only a second copy of the message can have settled the slot in that time. The POST
 *   is then a duplicate, as it is when the copy settles the slot during the POST; a second retry is ruled out in `secure`.
 * - The breaker may have opened within that time. The endpoint gets the POST, as it does from attempts in flight.
 * - The subscription may have been changed. A first attempt is written only while its lease is valid, whatever the look said.
 */
export function createDeliver(deps: DeliverDeps): Deliver {
  const { waitsMs, isolation, settle, report, noticeParked, nowMs } = deps
  const unfinished = createUnfinished()
  const look = createLook({ ...deps, unfinished: unfinished.of })
  const attempt = createAttempt(deps)
  const secure = createSecure(deps)
  const isFresh = ({ lease }: Sendable): boolean => lease !== undefined && isLeaseValid(lease.trustedUntilMs, nowMs())

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
      const noted = result.noteOutcome()
      try {
        const decision = decide(result.outcome, result.delivery.slot, waitsMs)
        const standing = await secure(result, decision)
        if (standing !== undefined) await settle(result.delivery, result.attempt, standing)
        report(result.delivery, result.attempt, decision, result.outcome)
        // Last: if it cannot be published, the message comes back and repeats the notice without the report.
        if (decision.kind === 'park') await noticeParked(result.delivery)
        unfinished.forget(due)
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
