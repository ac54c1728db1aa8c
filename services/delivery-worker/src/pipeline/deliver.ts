import type { Attempt, Delivery, Outcome, ParkedReason } from '@switchhook/contracts'
import type { EndpointHealth } from '@switchhook/store'
import type { Posted } from '../http/post-under-lease.ts'
import type { Admission, Lease } from '../policy/admit.ts'
import { resultOf } from '../policy/attempt-result.ts'
import { type Decision, decide, type Withheld } from '../policy/decide.ts'
import { isPostponedLongEnough, postponedBy, postponeMs } from '../policy/postpone.ts'

/** Where a delivery stands after its turn, for the ledger and the log. */
type Standing =
  | { readonly state: 'acknowledged' }
  | { readonly state: 'withdrawn' }
  | { readonly state: 'waiting'; readonly nextAttemptAt: string }

/** What delivering needs of the world. */
export interface DeliverDeps {
  /** The waits of the schedule, in ms. */
  readonly waitsMs: readonly number[]
  /** How long an endpoint that keeps failing is not contacted. */
  readonly cooldownMs: number
  /** Has this slot of this run been dealt with before? */
  readonly isSettled: (delivery: Delivery) => Promise<boolean>
  readonly admit: (delivery: Delivery) => Promise<Admission>
  readonly breaker: Breaker
  /** A first attempt is written only under a valid lease. After a renewal it may be withheld, or sent to another url. */
  readonly post: (delivery: Delivery, attempt: number, lease: Lease | undefined) => Promise<Posted>
  /** Resolves once the broker has confirmed that the delivery waits. */
  readonly retryLater: (delivery: Delivery, waitMs: number) => Promise<void>
  /** Resolves once the parked record is stored and this slot is settled. */
  readonly park: (delivery: Delivery, attempt: Attempt | null, reason: ParkedReason) => Promise<void>
  /**
   * Tells the delivery's tenant that it is parked, if it is and somebody wants to know; resolves once the broker has the
   * notice. It is made of what is stored, so that telling it again is the same notice.
   */
  readonly noticeParked: (delivery: Delivery) => Promise<void>
  readonly settle: (delivery: Delivery, attempt: Attempt | null, standing: Standing) => Promise<void>
  /** Lets what is remembered of a waiting delivery live as long again: it may wait for longer than its schedule is. */
  readonly keep: (delivery: Delivery) => Promise<void>
  readonly report: (
    delivery: Delivery,
    attempt: Attempt | null,
    decision: Decision,
    outcome: Outcome | Withheld,
  ) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Whether an endpoint is contacted, for all workers alike. */
export interface Breaker {
  /** Undefined: somebody else makes the one contact after the cool-down. */
  readonly claimProbe: (delivery: Delivery) => Promise<string | undefined>
  readonly note: (delivery: Delivery, outcome: Outcome, before: Before) => Promise<void>
}

/** What was known of the endpoint when the POST began. */
export interface Before {
  readonly health: EndpointHealth
  readonly probe: string | undefined
}

/** A POST that was made. */
interface Made {
  readonly delivery: Delivery
  readonly outcome: Outcome
  readonly attempt: Attempt
  /** Tells the breaker, once. */
  readonly note: () => Promise<void>
}

/** More than a worker ever has in hand. Beyond it the oldest are forgotten, which costs a duplicate each. */
const MOST_UNFINISHED = 20_000

export interface Deliverer {
  /**
   * Gives a due delivery its turn. Resolves when the message may be acknowledged; rejects only for trouble of our own, and
   * then the message must come back.
   */
  readonly deliver: (due: Delivery) => Promise<void>
  /**
   * Does what needs no turn: all but an ordinary POST. Resolves to whether that was all; the rules of `deliver` hold. So
   * deliveries for an endpoint in its cool-down are put off without waiting for others of their kind.
   */
  readonly withoutTurn: (due: Delivery) => Promise<boolean>
}

/**
 * The order is the promise: what comes next is safe with the broker or in the store before the slot is settled, and the
 * slot is settled before the message is acknowledged. A notice comes after what it tells of, and before the message is
 * acknowledged: the copy that comes back after a crash finds its slot settled, and tells it. A crash anywhere costs at most a duplicate. Where nobody crashed and
 * only the broker or the store was away, the POST is not repeated: its outcome is remembered until it is settled.
 */
export function createDeliver(deps: DeliverDeps): Deliverer {
  const unfinished = new Map<string, Made>()

  /** Resolves to what is left to do, an ordinary POST; undefined: nothing. */
  async function approach(
    due: Delivery,
  ): Promise<{ readonly delivery: Delivery; readonly before: Before; readonly lease: Lease | undefined } | undefined> {
    const turn = turnOf(due)
    const made = unfinished.get(turn)
    if (made !== undefined) {
      // With the attempt that was made: a withdrawal by another worker does not settle it.
      if (await deps.isSettled(made.delivery)) {
        await Promise.all([deps.noticeParked(due), made.note().catch(() => {})])
        unfinished.delete(turn)
      } else await finish(turn, made)
      return undefined
    }
    const [settled, { admitted, health, lease }] = await Promise.all([deps.isSettled(due), deps.admit(due)])
    if (settled) {
      await deps.noticeParked(due)
      return undefined
    }
    if ('kind' in admitted) {
      await conclude(due, admitted, null)
      return undefined
    }
    if (health.state === 'closed') return { delivery: admitted, before: { health, probe: undefined }, lease }
    const probe = health.state === 'probing' ? await deps.breaker.claimProbe(due) : undefined
    if (probe === undefined) {
      const openUntilMs = health.openUntilMs ?? 0
      const isForGood = isPostponedLongEnough(admitted, openUntilMs, deps.waitsMs)
      await conclude(admitted, { kind: 'cooling', isForGood }, null, openUntilMs)
    } else await postOnce(turn, admitted, { health, probe }, lease)
    return undefined
  }

  async function postOnce(turn: string, due: Delivery, before: Before, lease: Lease | undefined): Promise<void> {
    const startedAtMs = deps.now()
    const posted = await deps.post(due, due.attempt + 1, lease)
    // No attempt was made, so the breaker learns nothing; a probe that was claimed for it lapses.
    if (isWithheld(posted)) return conclude(due, posted, null)
    const { delivery, outcome } = posted.kind === 'readmitted' ? posted : { delivery: due, outcome: posted }
    const attempt = attemptOf(delivery, outcome, startedAtMs, deps.now())
    const note = once(() => deps.breaker.note(delivery, outcome, before))
    await finish(turn, { delivery: { ...delivery, attempt: attempt.attempt }, outcome, attempt, note })
  }

  async function finish(turn: string, made: Made): Promise<void> {
    const concluding = conclude(made.delivery, made.outcome, made.attempt)
    // A breaker that could not be told is no reason to try the delivery again: what it does not know is closed.
    const [concluded] = await Promise.allSettled([concluding, made.note()])
    if (concluded.status === 'fulfilled') {
      unfinished.delete(turn)
      return
    }
    unfinished.set(turn, made)
    const [oldest] = unfinished.keys()
    if (unfinished.size > MOST_UNFINISHED && oldest !== undefined) unfinished.delete(oldest)
    throw concluded.reason
  }

  /** @param openUntilMs the end of the cool-down because of which no POST was made; absent: it was not for a cool-down */
  async function conclude(
    delivery: Delivery,
    outcome: Outcome | Withheld,
    attempt: Attempt | null,
    openUntilMs?: number,
  ): Promise<void> {
    const decision = decide(outcome, delivery.slot, deps.waitsMs)
    switch (decision.kind) {
      case 'retry': {
        // While its POST was under way a copy of this message may have come to its end elsewhere. Two copies that fail must
        // not become two waits, or each later attempt would be made twice.
        if (attempt !== null && (await deps.isSettled(delivery))) break
        const { postponed: _, postponement: __, ...next } = delivery
        await deps.retryLater({ ...next, slot: decision.slot }, decision.waitMs)
        const nextAttemptAt = new Date(deps.now() + decision.waitMs).toISOString()
        await deps.settle(delivery, attempt, { state: 'waiting', nextAttemptAt })
        break
      }
      case 'postpone': {
        // The slot is not settled, because the same slot comes back. Only cool-downs count towards its limit: a last slot
        // whose secret cannot be opened waits until it can.
        const { postponed = 0 } = delivery
        const waitMs = postponeMs(postponed, deps.waitsMs, deps.cooldownMs)
        const postponement = openUntilMs === undefined ? undefined : postponedBy(waitMs, delivery, openUntilMs)
        const next = { ...delivery, postponed: postponed + 1, ...(postponement !== undefined && { postponement }) }
        await Promise.all([deps.keep(delivery), deps.retryLater(next, waitMs)])
        break
      }
      case 'park':
        await deps.park(delivery, attempt, decision.reason)
        break
      case 'acknowledged':
      case 'withdrawn':
        await deps.settle(delivery, attempt, { state: decision.kind })
        break
    }
    deps.report(delivery, attempt, decision, outcome)
    // Last: while it cannot be published the message comes back, and is told of again, but not reported again.
    if (decision.kind === 'park') await deps.noticeParked(delivery)
  }

  return {
    async deliver(due) {
      const left = await approach(due)
      if (left !== undefined) await postOnce(turnOf(due), left.delivery, left.before, left.lease)
    },
    withoutTurn: async (due) => (await approach(due)) === undefined,
  }
}

const isWithheld = (posted: Posted): posted is Withheld =>
  posted.kind === 'withdrawn' || posted.kind === 'cooling' || posted.kind === 'unsignable'

const turnOf = ({ deliveryId, run, slot }: Delivery): string => `${deliveryId} ${run} ${slot}`

/** Does it until it has been done; then no more. */
function once(work: () => Promise<void>): () => Promise<void> {
  let isDone = false
  return async () => {
    if (isDone) return
    await work()
    isDone = true
  }
}

function attemptOf(delivery: Delivery, outcome: Outcome, startedAtMs: number, endedAtMs: number): Attempt {
  return {
    run: delivery.run,
    slot: delivery.slot,
    attempt: delivery.attempt + 1,
    at: new Date(startedAtMs).toISOString(),
    durationMs: endedAtMs - startedAtMs,
    ...resultOf(outcome),
    ...(outcome.kind === 'answered' && outcome.answer !== undefined && { answer: outcome.answer }),
  }
}
