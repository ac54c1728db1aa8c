import type { Delivery, ScheduleOf } from '@switchhook/contracts'
import { extraUnitsOf, type Keep } from '@switchhook/store'
import type { Breaker } from '../endpoint/breaker.ts'
import type { Isolation, Source } from '../endpoint/isolation.ts'
import { decide, decisionOnReceived, withinWaitingLimit } from '../policy/decide.ts'
import { createInFlight, keptOf, type MessageInFlight } from './in-flight.ts'
import type { At, Attempted, SlotResult } from './progress.ts'
import { attempt, giveUpProbe, isFresh, look, needOf, type StageDeps, secure, settle } from './stages.ts'

/**
 * Called after a slot is settled and before its message is acknowledged: a notice, the record of a rejection, what is held
 * beyond a limit. It can be called again for the same slot. If it rejects, the message comes back and it is called again.
 */
export type AfterSettled = (settled: At<'settled'>) => Promise<void>

export interface PipelineDeps extends StageDeps {
  readonly scheduleOf: ScheduleOf
  readonly keep: Keep
  readonly isolation: Pick<Isolation, 'enter'>
  readonly breaker: Breaker
  readonly afterSettled: readonly AfterSettled[]
}

/** See `createPipeline`. */
export type Pipeline = ReturnType<typeof createPipeline>

/**
 * Takes due deliveries through look → attempt → decide → secure → settle → follow (progress.ts).
 *
 * The order is the promise: a crash at any point costs at most a duplicate POST. While only the broker or Redis is
 * away, this worker does not repeat the POST; another one does if it gets the message before the slot is settled.
 *
 * A delivery that waited for a turn is looked at again only if the lease of its look has ended, or this worker has seen the
 * endpoint fail: ADR 0041 says why that is safe.
 */
export function createPipeline(deps: PipelineDeps) {
  const inFlight = createInFlight(deps.nowMs)
  /** Results that the observers have. */
  const observed = new WeakSet<SlotResult>()

  async function updateBreaker(made: Attempted): Promise<void> {
    if (made.via === 'pull') return
    try {
      await deps.breaker.record(made.delivery, made.outcome, made.before, made.attempt.durationMs)
    } catch {
      // The breaker keeps its count of failures, and a claim of the probe lapses. No delivery depends on it.
    }
  }

  /** Once: the message can come back after its slot was settled. */
  function concluded({ result, decision }: At<'secured'>): void {
    if (observed.has(result)) return
    observed.add(result)
    deps.observer.concluded(result.delivery, result.attempt, decision, result.outcome)
  }

  async function deliverDue(due: Delivery, source: Source, message: MessageInFlight): Promise<void> {
    const isolated = deps.isolation.enter(due, source)
    try {
      // Before the wait for a turn, so that a delivery that needs none is not delayed.
      let looked = await look(deps, due)
      const turn = await isolated.waitForTurn(needOf(looked))
      if (turn === 'move') {
        await giveUpProbe(deps, looked)
        return await isolated.moveToLane()
      }
      if (turn === 'waited' && !isFresh(deps, looked)) looked = await look(deps, due)
      await conclude(looked.kind === 'admitted' ? await attempt(deps, looked, isolated) : looked, message)
    } finally {
      isolated.leave()
    }
  }

  /** Takes a delivery through the stages that are left of it. */
  async function conclude(from: PastAttempt, message: MessageInFlight): Promise<void> {
    const update = from.kind === 'posted' ? updateBreaker(from.result) : undefined
    try {
      const decided = from.kind === 'withheld' || from.kind === 'posted' ? decideOn(from, deps) : from
      message.last = keptOf(decided)
      const secured = decided.kind === 'decided' ? await secure(deps, decided) : decided
      message.last = keptOf(secured)
      const settled = secured.kind === 'secured' ? await settle(deps, secured) : secured
      if (secured.kind === 'secured') concluded(secured)
      await follow(deps.afterSettled, settled)
      message.last = undefined
    } finally {
      await update
    }
  }

  return {
    /**
     * Takes one due delivery through its slot. Resolves when its message may be acknowledged. Rejects only for failures of our
     * own (the broker or Redis is away, the process is out of sockets or stops, or a bug); the message must then come back.
     */
    deliver: (due: Delivery, source: Source): Promise<void> =>
      inFlight(due, (message) =>
        message.last === undefined ? deliverDue(due, source, message) : conclude(message.last, message),
      ),
    /** Takes an attempt that a client has made through the stages that follow a POST. */
    conclude: (result: Attempted): Promise<void> => conclude({ kind: 'posted', result }, { last: undefined }),
  }
}

/** The attempt is made or withheld. */
type PastAttempt = At<'withheld' | 'posted' | 'decided' | 'secured' | 'settled'>

function decideOn(
  { result }: At<'withheld' | 'posted'>,
  { scheduleOf, keep }: Pick<PipelineDeps, 'scheduleOf' | 'keep'>,
): At<'decided'> {
  const { delivery } = result
  const decided = decide(result.outcome, delivery, scheduleOf(delivery))
  const decision = result.via === 'pull' ? decisionOnReceived(decided) : decided
  const mayWait = (waitMs: number): boolean => keep(delivery.tenant, 'waiting', waitMs, 1 + extraUnitsOf(delivery))
  return { kind: 'decided', result, decision: withinWaitingLimit(decision, mayWait) }
}

async function follow(afterSettled: readonly AfterSettled[], settled: At<'settled'>): Promise<void> {
  await Promise.all(afterSettled.map((after) => after(settled)))
}
