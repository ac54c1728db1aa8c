import { type Attempt, attemptsAfter, type Delivery, isLeaseValid, newToken } from '@switchhook/contracts'
import type { Broker } from '@switchhook/messaging'
import type { DeliveryStore, Settlement } from '@switchhook/store'
import type { Clocks } from '../clocks.ts'
import type { Admit } from '../endpoint/admit.ts'
import type { Breaker } from '../endpoint/breaker.ts'
import type { Isolated, Need } from '../endpoint/isolation.ts'
import type { Posted, PostUnderLease } from '../http/post-under-lease.ts'
import type { PostLimits } from '../limits/post-limits.ts'
import type { DeliveryObserver } from '../observers/observer.ts'
import { resultOf } from '../policy/classify.ts'
import { isTransientFailure, type Withheld } from '../policy/decide.ts'
import { type At, withheld } from './progress.ts'

/** What the stages need. Each names its part. */
export interface StageDeps extends Clocks {
  readonly deliveries: Pick<DeliveryStore, 'isSettled' | 'settle'>
  readonly admit: Admit
  readonly breaker: Pick<Breaker, 'claimProbe' | 'giveUpProbe' | 'isFailing'>
  readonly post: PostUnderLease
  readonly postLimits: Pick<PostLimits, 'withPermits'>
  readonly observer: Required<DeliveryObserver>
  readonly broker: Pick<Broker, 'publishRetry'>
}

export type Looked = At<'admitted' | 'withheld' | 'settled'>

/**
 * Reads the ledger and, unless a recent read of the endpoint admits the delivery, the subscription with its circuit breaker, in
 * one round trip. A second one is rare (docs/architecture.md).
 */
export async function look({ deliveries, admit, breaker }: StageDeps, due: Delivery): Promise<Looked> {
  const [isSettled, read] = await Promise.all([deliveries.isSettled(due), admit(due)])
  const { admission, health, rejected, trustedUntilMs, limited } = read
  if (isSettled) return { kind: 'settled', delivery: due, rejected }
  if (admission.kind !== 'admitted') return withheld(due, admission)
  const probe = health.state === 'probing' ? await breaker.claimProbe(due) : undefined
  if (health.state === 'closed' || probe !== undefined) {
    const { delivery } = admission
    return { kind: 'admitted', delivery, before: { health, probe, rejected }, trustedUntilMs, limited }
  }
  return withheld(admission.delivery, { kind: 'cooling', isProbing: health.state === 'probing' })
}

/** A probe needs no turn: it is the one POST that decides about all the others. */
export function needOf(looked: Looked): Need {
  if (looked.kind !== 'admitted') return 'nothing'
  const { probe, health } = looked.before
  if (probe !== undefined) return 'probe'
  return health.recentHangs > 0 ? 'lane-only' : 'turn'
}

export async function giveUpProbe({ breaker }: Pick<StageDeps, 'breaker'>, looked: Looked): Promise<void> {
  if (looked.kind === 'admitted' && looked.before.probe !== undefined)
    await breaker.giveUpProbe(looked.delivery, looked.before.probe)
}

/** Whether a look is still valid after the wait for a turn. */
export const isFresh = ({ nowMs, breaker }: StageDeps, looked: Looked): boolean =>
  looked.kind === 'admitted' && isLeaseValid(looked.trustedUntilMs, nowMs()) && !breaker.isFailing(looked.delivery)

/** Makes one POST, unless the subscription or its limits withhold the delivery while the connection is made. */
export async function attempt(
  { redisNow, observer, postLimits, post, breaker }: StageDeps,
  admitted: At<'admitted'>,
  isolated: Pick<Isolated, 'writing' | 'posted'>,
): Promise<At<'posted' | 'withheld'>> {
  const { delivery: due, before, trustedUntilMs, limited } = admitted
  const number = due.attempt + 1
  const at = new Date(redisNow()).toISOString()
  const ended = observer.posting(due, number)
  let posted: Posted | Withheld | undefined
  try {
    posted = await postLimits.withPermits(limited, due, before.probe !== undefined, (take) =>
      post(due, number, trustedUntilMs, { take, writing: isolated.writing }),
    )
    ended(posted)
  } catch (error) {
    ended(undefined, error)
    throw error
  } finally {
    // Without a permit, one is often not sent. A claim that cannot be given up lapses; until then, all deliveries of the
    // endpoint are postponed.
    if (posted?.kind !== 'posted') await giveUpProbe({ breaker }, admitted).catch(() => {})
  }
  if (posted.kind !== 'posted') return withheld(due, posted)
  const { delivery, outcome, durationMs } = posted
  isolated.posted({ durationMs, isFailure: isTransientFailure(outcome) })
  const { run, slot } = delivery
  const answer = outcome.kind === 'answered' && outcome.answer !== undefined && { answer: outcome.answer }
  const made: Attempt = { run, slot, attempt: number, at, durationMs, ...resultOf(outcome), ...answer }
  return { kind: 'posted', result: { via: 'post', delivery, outcome, attempt: made, before } }
}

type SecureDeps = Pick<StageDeps, 'broker' | 'redisNow'>

/**
 * Makes a retry safe with the broker, with a token of its own (ADR 0055). A parked or held delivery is stored with the
 * ledger, so nothing else is to be secured.
 */
export async function secure(deps: SecureDeps, at: At<'decided'>): Promise<At<'secured'>> {
  return { ...at, kind: 'secured', settlement: await settlementOf(deps, at) }
}

async function settlementOf(
  { broker, redisNow }: SecureDeps,
  { result: { delivery, attempt }, decision }: At<'decided'>,
): Promise<Settlement> {
  switch (decision.kind) {
    case 'acknowledged':
    case 'withdrawn':
    case 'expired':
      return { state: decision.kind }
    case 'park': {
      const { kind: _, ...reason } = decision
      return { state: 'parked', ...reason }
    }
    case 'hold': {
      const { slot, postponed = 0, waitMs: dueInMs, visitInMs } = decision
      return { state: 'held', slot, next: { token: newToken(), postponed }, dueInMs, visitInMs }
    }
    case 'retry':
    case 'postpone': {
      const { postponed: _, ...rest } = delivery
      const { slot, postponed = 0, waitMs } = decision
      const token = newToken()
      // Confirmed by the broker before the slot is settled, so that the ledger never names a message that does not exist.
      const retry = { ...rest, slot, attempt: attemptsAfter(delivery, attempt), token }
      await broker.publishRetry({ ...retry, ...(postponed > 0 && { postponed }) }, waitMs)
      const nextAttemptAt = new Date(redisNow() + waitMs).toISOString()
      return { state: 'waiting', slot, next: { token, postponed }, nextAttemptAt }
    }
  }
}

/** Writes the ledger entry of the slot and the attempt, unless a duplicate was settled meanwhile. */
export async function settle(
  { deliveries }: StageDeps,
  { result, decision, settlement }: At<'secured'>,
): Promise<At<'settled'>> {
  const { delivery, attempt, before } = result
  const { kind, excess = [] } = await deliveries.settle(delivery, attempt, settlement)
  const written = kind === 'written' && { written: { decision, excess } }
  return { kind: 'settled', delivery, rejected: before?.rejected, result, ...written }
}
