import { type Delivery, messageIdentityOf, type ScheduleOf } from '@switchhook/contracts'
import { MAX_UNACKED_MS } from '@switchhook/messaging'
import type { Breaker } from '../endpoint/breaker.ts'
import type { Isolation, Source } from '../endpoint/isolation.ts'
import { decide, decisionOnReceived } from '../policy/decide.ts'
import type { At, Made, Progress, Result } from './progress.ts'
import { attempt, giveUpProbe, isFresh, type Kept, look, needOf, type StepDeps, secure, settle } from './steps.ts'

/**
 * Called after a slot is settled and before its message is acknowledged: a notice, the note of a rejection, what is held beyond
 * a limit. It can be called again for the same slot. If it rejects, the message comes back and it is called again.
 */
export type AfterSettled = (settled: At<'settled'>) => Promise<void>

export interface PipelineDeps extends StepDeps {
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
 * - Ledger: only a second copy of the message, in another worker, can have settled the slot since. The POST is then a
 *   duplicate, just as if the copy had settled the slot during the POST. Of their two retries, the ledger drops one.
 * - Breaker: a cool-down that this worker began is always seen. If another worker began it within that time, each delivery
 *   that gets a turn before its lease ends is still POSTed, just like the attempts in flight. They are at most as many as
 *   the subscription has turns in that time.
 * - Subscription: a first attempt is written only while its lease is valid, whatever the look said.
 */
export function createPipeline(deps: PipelineDeps) {
  const copies = createCopies(deps.nowMs)
  /** Results whose outcome the breaker has. */
  const noted = new WeakSet<Result>()

  /**
   * Reports the outcome of a POST to the circuit breaker, once. A failure is dropped, because a delivery must not be repeated
   * only to inform the breaker: an outcome that the breaker misses leaves it closed.
   */
  async function noteOutcome(result: Result | undefined): Promise<void> {
    if (result?.via !== 'post' || noted.has(result)) return
    try {
      await deps.breaker.note(result.delivery, result.outcome, result.before, result.isHung === true)
      noted.add(result)
    } catch {}
  }

  async function deliverAlone(due: Delivery, source: Source, at: At<'due'> | Kept, keep: Keep): Promise<void> {
    const isolated = deps.isolation.enter(due, source)
    try {
      // Before the wait for a turn, so that a delivery that needs none is not delayed.
      let looked = await look(deps, at)
      const need = needOf(looked)
      if (isolated.movesToLane(need)) {
        await giveUpProbe(deps, looked)
        return await isolated.moveToLane()
      }
      if (isolated.needsTurn(need)) {
        if (!(await isolated.takeTurn())) return await isolated.moveToLane()
        if (!isFresh(deps, looked)) looked = await look(deps, at)
      }
      await conclude(looked.kind === 'admitted' ? await attempt(deps, looked, isolated) : looked, keep)
    } finally {
      isolated.leave()
    }
  }

  async function conclude(from: Pending, keep: Keep = () => {}): Promise<void> {
    const reported = 'result' in from ? noteOutcome(from.result) : undefined
    try {
      let at: Pending | At<'noticed'> = from
      while (at.kind !== 'noticed') {
        keep(at)
        at = await next(deps, at)
      }
    } finally {
      await reported
    }
  }

  return {
    /**
     * Takes one due delivery through its slot. Resolves when its message may be acknowledged. Rejects only for failures of our
     * own (the broker or Redis is away, or the process is out of sockets); the message must then come back.
     */
    deliver: (due: Delivery, source: Source): Promise<void> =>
      copies.alone(due, (at, keep) => deliverAlone(due, source, at, keep)),
    /** Takes an attempt that a client has made through the steps that follow a POST. */
    conclude: (result: Made): Promise<void> => conclude({ kind: 'posted', result }),
  }
}

/** The values that are past the attempt, made or withheld. */
type Pending = At<'withheld' | 'posted' | 'decided' | 'secured' | 'settled'>

async function next(deps: PipelineDeps, at: Pending): Promise<Pending | At<'noticed'>> {
  switch (at.kind) {
    case 'withheld':
    case 'posted':
      return decideOn(at, deps.scheduleOf)
    case 'decided':
      return secure(deps, at)
    case 'secured':
      return settle(deps, at)
    case 'settled':
      return notice(deps.afterSettled, at)
  }
}

function decideOn({ result }: At<'withheld' | 'posted'>, scheduleOf: ScheduleOf): At<'decided'> {
  const decided = decide(result.outcome, result.delivery, scheduleOf(result.delivery))
  return { kind: 'decided', result, decision: result.via === 'pull' ? decisionOnReceived(decided) : decided }
}

async function notice(listeners: readonly AfterSettled[], settled: At<'settled'>): Promise<At<'noticed'>> {
  await Promise.all(listeners.map((afterSettled) => afterSettled(settled)))
  return { kind: 'noticed' }
}

/** More than a worker has in flight. Beyond it the oldest results are forgotten; each costs a duplicate POST. */
const MAX_KEPT = 20_000

/** Gets each value before the step that follows it. */
type Keep = (at: Progress) => void

type Work = (at: At<'due'> | Kept, keep: Keep) => Promise<void>

/**
 * The copies of a message that this worker handles, by identity: they are handled one after the other, and share the result
 * of a POST that could not be settled.
 * @param nowMs monotonic
 */
function createCopies(nowMs: () => number) {
  const running = new Map<string, Promise<void>>()
  /** Of messages that were POSTed and are not finished. Almost always empty. In the order in which they were kept. */
  const kept = new Map<string, { readonly last: Kept; readonly keptAtMs: number }>()

  /** Its message returned to the broker long ago. Another worker has it, or has finished it. */
  const isLapsed = ({ keptAtMs }: { readonly keptAtMs: number }): boolean => nowMs() - keptAtMs > MAX_UNACKED_MS

  function forgetOldest(): void {
    for (const [key, one] of kept) {
      if (kept.size <= MAX_KEPT && !isLapsed(one)) return
      kept.delete(key)
    }
  }

  async function handle(key: string, due: Delivery, work: Work): Promise<void> {
    if (kept.size > 0) forgetOldest()
    let last = kept.get(key)?.last
    kept.delete(key)
    try {
      await work(last ?? { kind: 'due', delivery: due }, (at) => {
        if (isKept(at)) last = at
      })
    } catch (error) {
      if (last !== undefined) kept.set(key, { last, keptAtMs: nowMs() })
      throw error
    }
  }

  return {
    /**
     * Runs `work` once no other copy of the message is handled here. It then finds what that copy has settled, or goes on from
     * the last value that the copy could not settle.
     */
    async alone(due: Delivery, work: Work): Promise<void> {
      const key = messageIdentityOf(due)
      for (let other = running.get(key); other !== undefined; other = running.get(key)) await other
      const handled = handle(key, due, work)
      const ended = handled.catch(() => {})
      running.set(key, ended)
      try {
        await handled
      } finally {
        running.delete(key)
      }
    },
  }
}

/** Without a POST nothing is kept, and the message is looked at again. A settled slot is known to the ledger. */
const isKept = (at: Progress): at is Kept =>
  (at.kind === 'posted' || at.kind === 'decided' || at.kind === 'secured') && at.result.attempt !== null
