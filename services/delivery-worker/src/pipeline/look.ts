import { isLeaseValid } from '@switchhook/contracts'
import type { DeliveryStore } from '@switchhook/store'
import type { Clocks } from '../clocks.ts'
import type { Admit } from '../endpoint/admit.ts'
import type { Breaker } from '../endpoint/cooldown.ts'
import type { Need } from '../endpoint/isolate.ts'
import { type At, withheld } from './progress.ts'

export interface LookDeps {
  readonly deliveries: Pick<DeliveryStore, 'isSettled'>
  readonly admit: Admit
  readonly breaker: Pick<Breaker, 'claimProbe'>
}

export type Looked = At<'admitted' | 'withheld' | 'settled'> | Kept

/** What a worker keeps of a message that it could not settle. */
export type Kept = At<'posted' | 'decided' | 'secured'>

/**
 * Reads the ledger, the subscription and the circuit breaker, all in one round trip. Sends nothing. For a delivery that this
 * worker has POSTed, it only asks whether another one has settled the slot meanwhile.
 */
export async function look({ deliveries, admit, breaker }: LookDeps, at: At<'due'> | Kept): Promise<Looked> {
  if (at.kind !== 'due') {
    const { result } = at
    // Asked with the attempt counted: a withdrawal by another worker does not settle a delivery that has been POSTed.
    if (!(await deliveries.isSettled(result.delivery))) return at
    return { kind: 'settled', delivery: result.delivery, rejected: result.before?.rejected, result }
  }
  const { delivery: due } = at
  const [isSettled, { admitted, health, rejected, ...lease }] = await Promise.all([
    deliveries.isSettled(due),
    admit(due),
  ])
  if (isSettled) return { kind: 'settled', delivery: due, rejected }
  if ('kind' in admitted) return withheld(due, admitted)
  const probe = health.state === 'probing' ? await breaker.claimProbe(due) : undefined
  if (health.state === 'closed' || probe !== undefined) {
    return { kind: 'admitted', delivery: admitted, before: { health, probe, rejected }, ...lease }
  }
  return withheld(admitted, { kind: 'cooling', isProbing: health.state === 'probing' })
}

/** A probe needs no turn: it is the one POST that decides about all the others. */
export function needOf(looked: Looked): Need {
  if (looked.kind !== 'admitted') return 'nothing'
  const { probe, health } = looked.before
  if (probe !== undefined) return 'probe'
  return health.recentHangs > 0 ? 'lane' : 'turn'
}

export async function giveUpProbe(
  { breaker }: { readonly breaker: Pick<Breaker, 'giveUpProbe'> },
  looked: Looked,
): Promise<void> {
  if (looked.kind === 'admitted' && looked.before.probe !== undefined)
    await breaker.giveUpProbe(looked.delivery, looked.before.probe)
}

/** Whether a look is still valid after the wait for a turn. */
export const isFresh = (
  { nowMs, breaker }: Pick<Clocks, 'nowMs'> & { readonly breaker: Pick<Breaker, 'isFailing'> },
  looked: Looked,
): boolean =>
  looked.kind === 'admitted' && isLeaseValid(looked.trustedUntilMs, nowMs()) && !breaker.isFailing(looked.delivery)
