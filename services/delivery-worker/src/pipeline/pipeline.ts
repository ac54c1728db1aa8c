import type { Delivery, ScheduleOf } from '@switchhook/contracts'
import type { Breaker } from '../endpoint/breaker.ts'
import type { Isolation, Source } from '../endpoint/isolation.ts'
import { decide, decisionOnReceived } from '../policy/decide.ts'
import { createInFlight, type MessageInFlight } from './in-flight.ts'
import type { At, Attempted, SlotResult } from './progress.ts'
import { attempt, giveUpProbe, isFresh, look, needOf, type StageDeps, secure, settle } from './stages.ts'

/**
 * Called after a slot is settled and before its message is acknowledged: a notice, the record of a rejection, what is held
 * beyond a limit. It can be called again for the same slot. If it rejects, the message comes back and it is called again.
 */
export type AfterSettled = (settled: At<'settled'>) => Promise<void>

export interface PipelineDeps extends StageDeps {
  readonly scheduleOf: ScheduleOf
  readonly isolation: Pick<Isolation, 'enter'>
  readonly breaker: Breaker
  readonly afterSettled: readonly AfterSettled[]
}

/** See `createPipeline`. */
export type Pipeline = ReturnType<typeof createPipeline>

/**
 * Takes due deliveries through look → attempt → decide → secure → settle → notice (progress.ts).
 *
 * The order is the promise: a crash at any point costs at most a duplicate POST. While only the broker or Redis is
 * away, this worker does not repeat the POST; another one does if it gets the message before the slot is settled.
 *
 * A delivery that waited for a turn is looked at again only if the lease of its look has ended, or this worker has seen the
 * endpoint fail. So a look is at most one lease old when a turn begins, and it is safe to rely on it:
 * - Ledger: only a duplicate, in another worker or with another token, can have settled the slot since. The POST is then made
 *   twice, just as if the duplicate had settled the slot during the POST. Of their two retries, the ledger drops one.
 * - Breaker: a cool-down that this worker began is always seen. If another worker began it within that time, each delivery
 *   that gets a turn before its lease ends is still POSTed, just like the attempts in flight. They are at most as many as
 *   the subscription has turns in that time.
 * - Subscription: a first attempt is written only while its lease is valid, whatever the look said.
 */
export function createPipeline(deps: PipelineDeps) {
  const inFlight = createInFlight(deps.nowMs)
  /** Results whose outcome the breaker has. */
  const recorded = new WeakSet<SlotResult>()
  /** Results that the observers have. */
  const observed = new WeakSet<SlotResult>()

  /** Reports the outcome of a POST to the circuit breaker, once. */
  async function updateBreaker(result: SlotResult | undefined): Promise<void> {
    if (result?.via !== 'post' || recorded.has(result)) return
    try {
      await deps.breaker.record(result.delivery, result.outcome, result.before, result.isHung === true)
      recorded.add(result)
    } catch {
      // A breaker that misses an outcome keeps its count of failures, and a claim of the probe lapses. No delivery depends on
      // it.
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
    const start = { kind: 'due', delivery: due } as const
    try {
      // Before the wait for a turn, so that a delivery that needs none is not delayed.
      let looked = await look(deps, start)
      const turn = await isolated.waitForTurn(needOf(looked))
      if (turn === 'move') {
        await giveUpProbe(deps, looked)
        return await isolated.moveToLane()
      }
      if (turn === 'waited' && !isFresh(deps, looked)) looked = await look(deps, start)
      await conclude(looked.kind === 'admitted' ? await attempt(deps, looked, isolated) : looked, message)
    } finally {
      isolated.leave()
    }
  }

  async function conclude(from: Pending, message?: MessageInFlight): Promise<void> {
    const update = 'result' in from ? updateBreaker(from.result) : undefined
    try {
      let at: Pending | At<'noticed'> = from
      for (; at.kind !== 'noticed'; at = await next(at)) message?.reached(at)
      message?.reached(at)
    } finally {
      await update
    }
  }

  async function next(at: Pending): Promise<Pending | At<'noticed'>> {
    switch (at.kind) {
      case 'withheld':
      case 'posted':
        return decideOn(at, deps.scheduleOf)
      case 'decided':
        return await secure(deps, at)
      case 'secured': {
        const settled = await settle(deps, at)
        concluded(at)
        return settled
      }
      case 'settled':
        return await notice(deps.afterSettled, at)
    }
  }

  return {
    /**
     * Takes one due delivery through its slot. Resolves when its message may be acknowledged. Rejects only for failures of our
     * own (the broker or Redis is away, the process is out of sockets or stops, or a bug); the message must then come back.
     */
    deliver: async (due: Delivery, source: Source): Promise<void> => {
      const message = await inFlight.enter(due)
      try {
        if (message.kept === undefined) await deliverDue(due, source, message)
        else await conclude(message.kept, message)
      } finally {
        message.leave()
      }
    },
    /** Takes an attempt that a client has made through the stages that follow a POST. */
    conclude: (result: Attempted): Promise<void> => conclude({ kind: 'posted', result }),
  }
}

/** The values that are past the attempt, made or withheld. */
type Pending = At<'withheld' | 'posted' | 'decided' | 'secured' | 'settled'>

function decideOn({ result }: At<'withheld' | 'posted'>, scheduleOf: ScheduleOf): At<'decided'> {
  const decided = decide(result.outcome, result.delivery, scheduleOf(result.delivery))
  return { kind: 'decided', result, decision: result.via === 'pull' ? decisionOnReceived(decided) : decided }
}

async function notice(afterSettled: readonly AfterSettled[], settled: At<'settled'>): Promise<At<'noticed'>> {
  await Promise.all(afterSettled.map((follow) => follow(settled)))
  return { kind: 'noticed' }
}
