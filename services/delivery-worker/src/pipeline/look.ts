import type { Delivery } from '@switchhook/contracts'
import type { Admission } from '../policy/admit.ts'
import { type Breaker, isPostponedLongEnough } from '../policy/cooldown.ts'
import { type Result, type Sendable, withheldResult } from './attempt.ts'

/** What the worker does next with a due delivery. A result needs no POST: it was withheld, or its POST is already made. */
export type Looked = Sendable | Result | { readonly kind: 'settled'; readonly result?: Result }

export interface LookDeps {
  /** The waits of the schedule, in ms. */
  readonly waitsMs: readonly number[]
  /** Whether this slot of this run is settled in the ledger. */
  readonly isSettled: (delivery: Delivery) => Promise<boolean>
  readonly admit: (delivery: Delivery) => Promise<Admission>
  readonly breaker: Pick<Breaker, 'claimProbe'>
  /** The result of a POST that this worker has made and not yet settled. */
  readonly unfinished: (due: Delivery) => Result | undefined
}

/** The step that reads the ledger, the subscription and the circuit breaker, all in one round trip. Sends nothing. */
export function createLook({ waitsMs, isSettled, admit, breaker, unfinished }: LookDeps) {
  return async (due: Delivery): Promise<Looked> => {
    const result = unfinished(due)
    // Asked with the attempt counted: a withdrawal by another worker does not settle a delivery that has been POSTed.
    if (result !== undefined) return (await isSettled(result.delivery)) ? { kind: 'settled', result } : result
    const [settled, { admitted, health, lease }] = await Promise.all([isSettled(due), admit(due)])
    if (settled) return { kind: 'settled' }
    if ('kind' in admitted) return withheldResult(due, admitted)
    const probe = health.state === 'probing' ? await breaker.claimProbe(due) : undefined
    if (health.state === 'closed' || probe !== undefined) {
      return { kind: 'sendable', delivery: admitted, before: { health, probe }, lease }
    }
    const openUntilMs = health.openUntilMs ?? 0
    const isFinal = isPostponedLongEnough(admitted, openUntilMs, waitsMs)
    return withheldResult(admitted, { kind: 'cooling', isFinal }, openUntilMs)
  }
}
