import {
  type Attempt,
  type Delivery,
  isLeaseValid,
  newToken,
  type Outcome,
  type Subscription,
} from '@switchhook/contracts'
import type { DeliveryStore, HeldExcess, Settlement } from '@switchhook/store'
import type { Clocks } from '../clocks.ts'
import type { Admit } from '../endpoint/admit.ts'
import type { Before, Breaker } from '../endpoint/cooldown.ts'
import type { Isolation, Need } from '../endpoint/isolate.ts'
import type { RecoverRejected } from '../endpoint/recover-rejected.ts'
import type { Posted, PostUnderLease } from '../http/post-under-lease.ts'
import type { Limits } from '../limits/limits.ts'
import { resultOf } from '../policy/classify.ts'
import {
  type Decision,
  decide,
  decisionOnReceived,
  isTransientFailure,
  type Schedule,
  type Withheld,
} from '../policy/decide.ts'
import type { DeliveryListener } from '../reporting/listener.ts'

/** What the steps of a delivery use: the schedule, the parts of the worker, the store, the broker and the clocks. */
export interface DeliverDeps extends Schedule, RecoverRejected, Omit<DeliveryStore, 'listAgain'>, Clocks {
  readonly isolation: Pick<Isolation, 'inTurn' | 'notePost'>
  readonly admit: Admit
  readonly breaker: Breaker
  readonly post: PostUnderLease
  readonly limits: Pick<Limits, 'post'>
  readonly listener: Required<DeliveryListener>
  /** Resolves once the broker has confirmed the delivery in its wait queue. */
  readonly retryLater: (delivery: Delivery, waitMs: number) => Promise<void>
  /**
   * Publishes the notice of a parked delivery, if it is parked and its tenant subscribes to the notice. Resolves once the
   * broker has confirmed it. The notice is built from the stored record, so a repeat is identical.
   */
  readonly noticeParked: (delivery: Delivery) => Promise<void>
  readonly listAgain: (...listed: Parameters<DeliveryStore['listAgain']>) => Promise<void>
  /** Parks held deliveries beyond a limit. */
  readonly parkExcess: (excess: readonly HeldExcess[]) => Promise<void>
}

/** The message of a due delivery. `made`: it came back, because the result of its POST could not be settled. */
export interface DueMessage {
  readonly due: Delivery
  made?: Made
}

interface Sendable {
  readonly kind: 'sendable'
  /** As it is sent: with the subscription's current url and secret. */
  readonly delivery: Delivery
  /** The endpoint's state when the worker looked, and the probe that this worker claimed. */
  readonly before: Before
  /** The end of the look's lease. Monotonic, in ms. */
  readonly trustedUntilMs: number
  /** The subscription, if the POST needs a permit. */
  readonly limited?: Subscription
}

/** The result of a slot in which no POST was made. The breaker learns nothing from it. */
interface NotMade {
  readonly kind: 'not-made'
  readonly delivery: Delivery
  readonly outcome: Withheld
  readonly attempt: null
  secured?: Settlement | undefined
}

/** The result of a POST. It is kept until the slot is settled. */
export interface Made {
  readonly kind: 'made'
  /** As it was sent, with this POST counted in `attempt`. */
  readonly delivery: Delivery
  readonly outcome: Outcome
  readonly attempt: Attempt
  /** null: a client received the delivery and made the attempt, so there is no endpoint, and no breaker. */
  readonly before: Before | null
  /** The circuit breaker has the outcome. */
  isNoted?: boolean
  /** What the slot is to be settled with: the rest of the delivery is safe. */
  secured?: Settlement | undefined
}

export type Looked = Sendable | NotMade | Made | Settled

interface Settled extends Pick<Before, 'rejected'> {
  readonly kind: 'settled'
}

/** Reads the ledger, the subscription and the circuit breaker, all in one round trip. Sends nothing. */
export async function look(worker: DeliverDeps, { due, made }: DueMessage): Promise<Looked> {
  // Asked with the attempt counted: a withdrawal by another worker does not settle a delivery that has been POSTed.
  if (made !== undefined)
    return (await worker.isSettled(made.delivery)) ? { kind: 'settled', rejected: made.before?.rejected } : made
  const [isSettled, { admitted, health, rejected, ...lease }] = await Promise.all([
    worker.isSettled(due),
    worker.admit(due),
  ])
  if (isSettled) return { kind: 'settled', rejected }
  if ('kind' in admitted) return notMade(due, admitted)
  const probe = health.state === 'probing' ? await worker.breaker.claimProbe(due) : undefined
  if (health.state === 'closed' || probe !== undefined) {
    return { kind: 'sendable', delivery: admitted, before: { health, probe, rejected }, ...lease }
  }
  return notMade(admitted, { kind: 'cooling', isProbing: health.state === 'probing' })
}

/** A probe needs no turn: it is the one POST that decides about all the others. */
export function needOf(looked: Looked): Need {
  if (looked.kind !== 'sendable') return 'nothing'
  const { probe, health } = looked.before
  if (probe !== undefined) return 'probe'
  return health.recentHangs > 0 ? 'lane' : 'turn'
}

export async function giveUpProbe({ breaker }: DeliverDeps, looked: Looked): Promise<void> {
  if (looked.kind === 'sendable' && looked.before.probe !== undefined)
    await breaker.releaseProbe(looked.delivery, looked.before.probe)
}

/** Whether a look is still valid after the wait for a turn. */
export const isFresh = ({ nowMs, breaker }: DeliverDeps, looked: Looked): boolean =>
  looked.kind === 'sendable' && isLeaseValid(looked.trustedUntilMs, nowMs()) && !breaker.isFailing(looked.delivery)

export async function attempt(worker: DeliverDeps, sendable: Sendable): Promise<Made | NotMade> {
  const { delivery: admitted, before } = sendable
  const startedAtMs = worker.now()
  const beganMs = worker.nowMs()
  let posted: Posted | Withheld | undefined
  try {
    posted = await postObserved(worker, sendable)
  } finally {
    // Until a claim lapses, all deliveries of the endpoint use up slots. Without a permit, one is often not sent.
    if (before.probe !== undefined && posted?.kind !== 'posted')
      await worker.breaker.releaseProbe(admitted, before.probe).catch(() => {})
  }
  if (posted.kind !== 'posted') return notMade(admitted, posted)
  const { outcome } = posted
  const delivery = { ...posted.delivery, attempt: admitted.attempt + 1 }
  const durationMs = Math.round(worker.nowMs() - beganMs)
  worker.isolation.notePost(delivery, { durationMs, isFailure: isTransientFailure(outcome) })
  const made: Attempt = {
    run: delivery.run,
    slot: delivery.slot,
    attempt: delivery.attempt,
    at: new Date(startedAtMs).toISOString(),
    durationMs,
    ...resultOf(outcome),
    ...(outcome.kind === 'answered' && outcome.answer !== undefined && { answer: outcome.answer }),
  }
  return { kind: 'made', delivery, outcome, attempt: made, before }
}

async function postObserved(
  { listener, post, limits }: DeliverDeps,
  { delivery, before, trustedUntilMs, limited }: Sendable,
): Promise<Posted | Withheld> {
  const number = delivery.attempt + 1
  const ended = listener.posting(delivery, number)
  try {
    const posted =
      limited === undefined
        ? await post(delivery, number, trustedUntilMs)
        : await limits.post(limited, delivery, before.probe !== undefined, (take) =>
            post(delivery, number, trustedUntilMs, take),
          )
    ended(posted)
    return posted
  } catch (error) {
    ended(undefined, error)
    throw error
  }
}

/** The steps after the POST: decide, secure, settle, report, notice. The order is described in deliver.ts. */
export async function conclude(worker: DeliverDeps, result: Made | NotMade): Promise<void> {
  const { delivery, outcome } = result
  const noted = noteOutcome(worker, result)
  try {
    const decided = decide(outcome, delivery, worker)
    const before = result.kind === 'made' ? result.before : undefined
    const decision = before === null ? decisionOnReceived(decided) : decided
    const rejected = before?.rejected
    if (decision.kind === 'acknowledged' && rejected) await worker.askForRecovery(delivery, rejected)
    result.secured ??= await secure(worker, result, decision)
    const excess = result.secured && (await worker.settle(delivery, result.attempt, result.secured))
    worker.listener.concluded(delivery, result.attempt, decision, outcome)
    // Last: if a notice cannot be published, the message comes back and repeats it without the report.
    if (excess !== undefined) await worker.parkExcess(excess)
    if (decision.kind === 'park') {
      if (rejected !== undefined) await worker.noteRejected(delivery)
      await worker.noticeParked(delivery)
    }
  } finally {
    await noted
  }
}

/**
 * Repeats what may be missing although the slot is settled: the notice and the note of a parked delivery, the entry of a held
 * one, and the breaker's outcome.
 */
export async function concludeSettled(
  worker: DeliverDeps,
  { due, made }: DueMessage,
  { rejected }: Settled,
): Promise<void> {
  await Promise.all([
    worker.noticeParked(due),
    rejected !== undefined && worker.noteRejected(due),
    worker.listAgain(due),
    made && noteOutcome(worker, made),
  ])
}

/**
 * Makes the rest of a delivery safe: with the broker if it is retried, in the store if it is parked or held. Resolves to the state
 * to settle the slot with; undefined: there is nothing more to settle.
 *
 * Two copies of a message, or one that comes back after a lost confirm, publish a retry each, with a token each. The ledger
 * names the token of the first that is settled, so all but one of these retries are dropped when they fall due.
 */
async function secure(
  worker: DeliverDeps,
  { delivery, attempt: made }: Made | NotMade,
  decision: Decision,
): Promise<Settlement | undefined> {
  switch (decision.kind) {
    case 'acknowledged':
    case 'withdrawn':
    case 'expired':
      return { state: decision.kind }
    case 'park':
      await worker.park(delivery, made, decision.reason, decision.cause)
      return undefined
    case 'hold': {
      // Nothing else to secure: the store writes the message with the ledger.
      const { slot, postponed = 0, waitMs: dueInMs, lookInMs } = decision
      return { state: 'held', slot, next: { token: newToken(), postponed }, dueInMs, lookInMs }
    }
    case 'retry':
    case 'postpone': {
      const { postponed: _, ...rest } = delivery
      const { slot, postponed = 0, waitMs } = decision
      const token = newToken()
      // Confirmed by the broker before the slot is settled, so that the ledger never names a message that does not exist.
      await worker.retryLater({ ...rest, slot, token, ...(postponed > 0 && { postponed }) }, waitMs)
      const nextAttemptAt = new Date(worker.now() + waitMs).toISOString()
      return { state: 'waiting', next: { token, postponed }, nextAttemptAt }
    }
  }
}

/**
 * Reports the outcome of a POST to the circuit breaker, once. A failure is dropped, because a delivery must not be repeated
 * only to inform the breaker: an outcome that the breaker misses leaves it closed.
 */
async function noteOutcome({ breaker }: DeliverDeps, result: Made | NotMade): Promise<void> {
  if (result.kind === 'not-made' || result.before === null || result.isNoted === true) return
  try {
    await breaker.note(result.delivery, result.outcome, result.before, result.attempt.durationMs)
    result.isNoted = true
  } catch {}
}

const notMade = (delivery: Delivery, outcome: Withheld): NotMade => ({
  kind: 'not-made',
  delivery,
  outcome,
  attempt: null,
})
