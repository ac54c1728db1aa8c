import type { Attempt } from '@switchhook/contracts'
import type { Clocks } from '../clocks.ts'
import type { Breaker } from '../endpoint/cooldown.ts'
import type { Isolation } from '../endpoint/isolate.ts'
import type { Posted, PostUnderLease } from '../http/post-under-lease.ts'
import type { Limits } from '../limits/limits.ts'
import { resultOf } from '../policy/classify.ts'
import { isTransientFailure, type Withheld } from '../policy/decide.ts'
import type { DeliveryListener } from '../reporting/listener.ts'
import { giveUpProbe } from './look.ts'
import { type At, withheld } from './progress.ts'

export interface AttemptDeps extends Clocks {
  readonly post: PostUnderLease
  readonly limits: Pick<Limits, 'post'>
  readonly breaker: Pick<Breaker, 'giveUpProbe'>
  readonly isolation: Pick<Isolation, 'notePost'>
  readonly listener: Pick<Required<DeliveryListener>, 'posting'>
}

/** Makes one POST, unless the subscription or its limits withhold the delivery while the connection is made. */
export async function attempt(deps: AttemptDeps, admitted: At<'admitted'>): Promise<At<'posted' | 'withheld'>> {
  const { delivery: due, before, trustedUntilMs, limited } = admitted
  const number = due.attempt + 1
  const startedAtMs = deps.now()
  const beganMs = deps.nowMs()
  const ended = deps.listener.posting(due, number)
  let posted: Posted | Withheld | undefined
  try {
    posted = await deps.limits.post(limited, due, before.probe !== undefined, (take) =>
      deps.post(due, number, trustedUntilMs, take),
    )
    ended(posted)
  } catch (error) {
    ended(undefined, error)
    throw error
  } finally {
    // Until a claim lapses, all deliveries of the endpoint use up slots. Without a permit, one is often not sent.
    if (posted?.kind !== 'posted') await giveUpProbe(deps, admitted).catch(() => {})
  }
  if (posted.kind !== 'posted') return withheld(due, posted)
  const { outcome, isHung } = posted
  const delivery = { ...posted.delivery, attempt: number }
  const durationMs = Math.round(deps.nowMs() - beganMs)
  deps.isolation.notePost(delivery, { durationMs, isFailure: isTransientFailure(outcome) })
  const made: Attempt = {
    run: delivery.run,
    slot: delivery.slot,
    attempt: number,
    at: new Date(startedAtMs).toISOString(),
    durationMs,
    ...resultOf(outcome),
    ...(outcome.kind === 'answered' && outcome.answer !== undefined && { answer: outcome.answer }),
  }
  return { kind: 'posted', result: { via: 'post', delivery, outcome, attempt: made, before, isHung } }
}
