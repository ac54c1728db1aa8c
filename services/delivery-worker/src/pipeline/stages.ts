import { type Attempt, attemptsAfter, isLeaseValid, newToken } from '@switchhook/contracts'
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
import { type Decision, isTransientFailure, type Withheld } from '../policy/decide.ts'
import { type At, type SlotResult, withheld } from './progress.ts'

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
 * one round trip. A second one is rare: it claims the probe, reads a removed subscription, verifies the installation if none is
 * found, or reads the endpoint because a shared read does not admit the delivery.
 */
export async function look(
  { deliveries, admit, breaker }: Pick<StageDeps, 'deliveries' | 'admit' | 'breaker'>,
  { delivery: due }: At<'due'>,
): Promise<Looked> {
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
export const isFresh = ({ nowMs, breaker }: Pick<StageDeps, 'nowMs' | 'breaker'>, looked: Looked): boolean =>
  looked.kind === 'admitted' && isLeaseValid(looked.trustedUntilMs, nowMs()) && !breaker.isFailing(looked.delivery)

/** Makes one POST, unless the subscription or its limits withhold the delivery while the connection is made. */
export async function attempt(
  deps: Omit<StageDeps, 'deliveries' | 'admit' | 'broker'>,
  admitted: At<'admitted'>,
  isolated: Pick<Isolated, 'posting' | 'posted'>,
): Promise<At<'posted' | 'withheld'>> {
  const { delivery: due, before, trustedUntilMs, limited } = admitted
  const number = due.attempt + 1
  const startedAtMs = deps.redisNow()
  const beganMs = deps.nowMs()
  isolated.posting()
  const ended = deps.observer.posting(due, number)
  let posted: Posted | Withheld | undefined
  try {
    posted = await deps.postLimits.withPermits(limited, due, before.probe !== undefined, (take) =>
      deps.post(due, number, trustedUntilMs, take),
    )
    ended(posted)
  } catch (error) {
    ended(undefined, error)
    throw error
  } finally {
    // Without a permit, one is often not sent. A claim that cannot be given up lapses; until then, all deliveries of the
    // endpoint are postponed.
    if (posted?.kind !== 'posted') await giveUpProbe(deps, admitted).catch(() => {})
  }
  if (posted.kind !== 'posted') return withheld(due, posted)
  const { delivery, outcome, isHung } = posted
  const durationMs = Math.round(deps.nowMs() - beganMs)
  isolated.posted({ durationMs, isFailure: isTransientFailure(outcome) })
  const made = attemptOf(posted, { number, startedAtMs, durationMs })
  return { kind: 'posted', result: { via: 'post', delivery, outcome, attempt: made, before, isHung } }
}

const attemptOf = (
  { delivery, outcome }: Posted,
  its: Readonly<Record<'number' | 'startedAtMs' | 'durationMs', number>>,
): Attempt => ({
  run: delivery.run,
  slot: delivery.slot,
  attempt: its.number,
  at: new Date(its.startedAtMs).toISOString(),
  durationMs: its.durationMs,
  ...resultOf(outcome),
  ...(outcome.kind === 'answered' && outcome.answer !== undefined && { answer: outcome.answer }),
})

/**
 * Makes a retry safe with the broker. A parked or held delivery is stored with the ledger, so nothing else is to be secured.
 *
 * Two duplicates of a message, or one that comes back after a lost confirm, publish a retry each, with a token each. The ledger
 * names the token of the first that is settled, so all but one of these retries are dropped when they fall due.
 */
export async function secure(
  deps: Pick<StageDeps, 'broker' | 'redisNow'>,
  { result, decision }: At<'decided'>,
): Promise<At<'secured'>> {
  return { kind: 'secured', result, decision, settlement: await settlementOf(deps, result, decision) }
}

async function settlementOf(
  { broker, redisNow }: Parameters<typeof secure>[0],
  { delivery, attempt }: SlotResult,
  decision: Decision,
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
  { deliveries }: Pick<StageDeps, 'deliveries'>,
  { result, decision, settlement }: At<'secured'>,
): Promise<At<'settled'>> {
  const { delivery, attempt, before } = result
  const { kind, excess = [] } = await deliveries.settle(delivery, attempt, settlement)
  const written = kind === 'written' && { written: { decision, excess } }
  return { kind: 'settled', delivery, rejected: before?.rejected, result, ...written }
}
