import type { Attempt, Delivery, Outcome, ParkedReason } from '@switchhook/contracts'
import { type Decision, decide, type Withheld } from './decide.ts'

/** Where a delivery stands after its turn, for the ledger and the log. */
type Standing =
  | { readonly state: 'acknowledged' }
  | { readonly state: 'withdrawn' }
  | { readonly state: 'waiting'; readonly nextAttemptAt: string }

/** What delivering needs of the world. */
export interface DeliverDeps {
  /** The waits of the schedule, in ms. */
  readonly waitsMs: readonly number[]
  /** Has this slot of this run been dealt with before? */
  readonly isSettled: (delivery: Delivery) => Promise<boolean>
  /** Answers the delivery as it may be sent now, or why it must not be. */
  readonly admit: (delivery: Delivery) => Promise<Delivery | Withheld>
  readonly post: (delivery: Delivery, attempt: number) => Promise<Outcome>
  /** Resolves once the broker has confirmed that the delivery waits. */
  readonly retryLater: (delivery: Delivery, waitMs: number) => Promise<void>
  /** Resolves once the parked record is stored and this slot is settled. */
  readonly park: (delivery: Delivery, attempt: Attempt | null, reason: ParkedReason) => Promise<void>
  readonly settle: (delivery: Delivery, attempt: Attempt | null, standing: Standing) => Promise<void>
  readonly report: (delivery: Delivery, attempt: Attempt | null, decision: Decision) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/**
 * Gives a due delivery its turn. Resolves when the message may be acknowledged; rejects only for trouble of our own, and
 * then the message must come back.
 *
 * The order is the promise: what comes next is safe with the broker or in the store before the slot is settled, and the
 * slot is settled before the message is acknowledged. A crash anywhere costs at most a duplicate.
 */
export function createDeliver(deps: DeliverDeps): (delivery: Delivery) => Promise<void> {
  return async function deliver(due) {
    const [settled, admitted] = await Promise.all([deps.isSettled(due), deps.admit(due)])
    if (settled) return
    if ('kind' in admitted) return conclude(due, admitted, null)

    const startedAtMs = deps.now()
    const outcome = await deps.post(admitted, due.attempt + 1)
    const attempt = attemptOf(admitted, outcome, startedAtMs, deps.now())
    return conclude({ ...admitted, attempt: attempt.attempt }, outcome, attempt)
  }

  async function conclude(delivery: Delivery, outcome: Outcome | Withheld, attempt: Attempt | null): Promise<void> {
    const decision = decide(outcome, delivery.slot, deps.waitsMs)
    switch (decision.kind) {
      case 'retry': {
        await deps.retryLater({ ...delivery, slot: decision.slot }, decision.waitMs)
        const nextAttemptAt = new Date(deps.now() + decision.waitMs).toISOString()
        await deps.settle(delivery, attempt, { state: 'waiting', nextAttemptAt })
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
    deps.report(delivery, attempt, decision)
  }
}

function attemptOf(delivery: Delivery, outcome: Outcome, startedAtMs: number, endedAtMs: number): Attempt {
  return {
    run: delivery.run,
    slot: delivery.slot,
    attempt: delivery.attempt + 1,
    at: new Date(startedAtMs).toISOString(),
    durationMs: endedAtMs - startedAtMs,
    outcome: outcome.kind === 'unreachable' ? outcome.reason : outcome.kind,
    status: outcome.kind === 'unreachable' ? null : outcome.status,
  }
}
