import type { Attempt, Delivery, Outcome } from '@switchhook/contracts'
import type { Posted } from '../http/post-under-lease.ts'
import type { Lease } from '../policy/admit.ts'
import { resultOf } from '../policy/classify.ts'
import type { Before, Breaker } from '../policy/cooldown.ts'
import type { Withheld } from '../policy/decide.ts'
import type { DeliveryListener } from '../reporting/listener.ts'

/** A delivery that may be sent now. */
export interface Sendable {
  readonly kind: 'sendable'
  /** As it is sent: with the subscription's current url and secret. */
  readonly delivery: Delivery
  /** The endpoint's health when the worker looked, and the probe that this worker claimed. */
  readonly before: Before
  readonly lease: Lease | undefined
}

/** The outcome of a delivery in one slot: of its POST, or the reason why no POST was made. */
export interface Result {
  readonly kind: 'result'
  /** With its own POST counted in `attempt`. */
  readonly delivery: Delivery
  readonly outcome: Outcome | Withheld
  /** Null: no POST was made. */
  readonly attempt: Attempt | null
  /** The end of the cool-down that withheld the delivery, in ms since 1970. Absent: something else withheld it. */
  readonly openUntilMs?: number
  /** Reports the outcome to the circuit breaker, at most once. Never rejects. */
  readonly noteOutcome: () => Promise<void>
}

export interface AttemptDeps {
  /** A first attempt is written only under a valid lease. A renewal may withhold it or change its url. */
  readonly post: (delivery: Delivery, attempt: number, lease: Lease | undefined) => Promise<Posted>
  readonly breaker: Pick<Breaker, 'note'>
  readonly posting?: NonNullable<DeliveryListener['posting']>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

const NOTHING_TO_NOTE = async (): Promise<void> => {}

/** The result of a delivery for which no POST is made. The breaker learns nothing from it. */
export const withheldResult = (delivery: Delivery, outcome: Withheld, openUntilMs?: number): Result => ({
  kind: 'result',
  delivery,
  outcome,
  attempt: null,
  noteOutcome: NOTHING_TO_NOTE,
  ...(openUntilMs !== undefined && { openUntilMs }),
})

/** The step that makes the POST and classifies its answer. */
export function createAttempt(deps: AttemptDeps): (sendable: Sendable) => Promise<Result> {
  const { post, breaker, posting, now } = deps

  async function postObserved(delivery: Delivery, lease: Lease | undefined): Promise<Posted> {
    const number = delivery.attempt + 1
    const ended = posting?.(delivery, number)
    try {
      const posted = await post(delivery, number, lease)
      ended?.(posted)
      return posted
    } catch (error) {
      ended?.(undefined, error)
      throw error
    }
  }

  return async ({ delivery: admitted, before, lease }) => {
    const startedAtMs = now()
    const posted = await postObserved(admitted, lease)
    // A probe that was claimed for this delivery lapses.
    if (isWithheld(posted)) return withheldResult(admitted, posted)
    const { delivery, outcome } = posted.kind === 'readmitted' ? posted : { delivery: admitted, outcome: posted }
    const attempt = attemptOf(delivery, outcome, startedAtMs, now())
    return {
      kind: 'result',
      delivery: { ...delivery, attempt: attempt.attempt },
      outcome,
      attempt,
      noteOutcome: onceDone(() => breaker.note(delivery, outcome, before)),
    }
  }
}

const isWithheld = (posted: Posted): posted is Withheld =>
  posted.kind === 'withdrawn' || posted.kind === 'cooling' || posted.kind === 'unsignable'

/**
 * Runs `work` at most once; a failed run can be repeated. A failure is dropped, because a delivery must not be repeated
 * only to inform the breaker: an outcome that the breaker misses leaves it closed.
 */
function onceDone(work: () => Promise<void>): () => Promise<void> {
  let isDone = false
  return async () => {
    if (isDone) return
    try {
      await work()
      isDone = true
    } catch {}
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
