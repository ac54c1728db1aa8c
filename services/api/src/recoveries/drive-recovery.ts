import type { Subscription } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import type { BreakerStore, DueTimer, ParkedWindow } from '@switchhook/store'
import type { Step, Transact } from '../state/transact.ts'
import { MOST_STILL_MS, PATIENCE_MS, type Sample, takeTurn } from './pace.ts'
import {
  cancelled,
  done,
  type Item,
  isComplete,
  putDown,
  type Recovery,
  type Sending,
  stillMsOf,
  withItems,
  withSending,
  withTurn,
} from './recovery.ts'
import { type RecoveryTimer, recoveryKey, writingOf } from './recovery-book.ts'
import type { RecoveryMeter } from './recovery-meter.ts'
import type { Errand } from './send-items.ts'

type Timer = Pick<DueTimer, 'tenant' | 'payload'>

/** Takes the turns of recoveries, in this process or, when it dies, in another. */
export interface RecoveryDriver {
  /** A turn is due. Resolves when it is taken: what is sent in it may take longer than other timers can wait. */
  timerDue(timer: Timer): Promise<void>
  /** Resolves when nothing is being sent. */
  idle(): Promise<void>
}

export interface RecoveryDriverDeps {
  readonly transact: Transact
  readonly find: (tenant: string | null, recoveryId: Recovery['recoveryId']) => Promise<Recovery | undefined>
  readonly look: BreakerStore['look']
  readonly parked: Pick<ParkedWindow, 'take' | 'stateOf'>
  readonly send: (errand: Errand) => Promise<Sending>
  /** Deliveries per second of one recovery, at most. */
  readonly mostPerSecond: number
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly meter: RecoveryMeter
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/** A turn that was taken: these are ours to send until the lease is over. */
interface Taken {
  readonly recovery: Recovery
  readonly items: readonly Item[]
  readonly subscription: Subscription
  /** From the beginning of this turn to the next one. */
  readonly waitMs: number
}

/** What was written down. */
interface Noted {
  readonly before: Recovery
  readonly after: Recovery
}

/** Longer than a broker takes to confirm, or to be found silent, and Redis to note what came of it. */
const LEASE_MS = 15_000

/**
 * A turn has three steps. It is taken: what is to be sent is written down, with the timer of the turn that follows if this
 * one is never heard of again. Its deliveries are sent. What came of them is written down, with the timer of the next turn.
 * A turn is good for one timer and one result, so of two replicas with the same timer one comes too late; a process that dies
 * leaves its deliveries to the next turn, which sends the same runs of them.
 */
export function createRecoveryDriver(deps: RecoveryDriverDeps): RecoveryDriver {
  const { transact, now, meter, log } = deps
  const sending = new Set<Promise<void>>()

  async function take(tenant: string | null, { recoveryId, turn }: RecoveryTimer): Promise<Taken | Noted | undefined> {
    return transact<Taken | Noted | undefined>(tenant, [recoveryKey(recoveryId)], async ([stored]) => {
      const present = stored as Recovery | undefined
      if (present?.turn !== turn) return { result: undefined }
      const nowMs = now()
      const write = (recovery: Recovery, dueInMs?: number) => noting(present, recovery, dueInMs)
      if (present.state !== 'running') return present.isSending ? write(putDown(present, nowMs)) : { result: undefined }
      const { health, subscription } = await deps.look({ tenant, subscriptionId: present.subscriptionId })
      if (subscription === undefined) return write(cancelled(putDown(present, nowMs), 'subscription-deleted', nowMs))

      if (isComplete(present)) return write(done(present, nowMs))
      const sample = await sampleOf(present, nowMs)
      const { isEnabled, mostPerSecond } = limitsOf(present, subscription)
      const stillMs = stillMsOf(present, nowMs)
      const next = takeTurn(present.pace, { isEnabled, health, sample, mostPerSecond, stillMs, nowMs })
      const isGivenUp = next.take === 0 && stillMs >= MOST_STILL_MS
      if (isGivenUp) return write(cancelled(putDown(present, nowMs), 'no-progress', nowMs))
      const begun = withTurn(present, next, sample, nowMs)
      if (next.take === 0) return write(begun, next.waitMs)

      const filled = begun.inHand === null && !begun.isReadOut ? await fill(begun, next.take) : begun
      if (isComplete(filled)) return write(done(filled, nowMs))
      if (filled.inHand === null) return write(filled, 0)
      const items = filled.inHand.items.slice(0, next.take)
      // Whoever takes over does not know which of them were sent.
      const recovery = { ...filled, isSending: true }
      const noted = { ...recovery, inHand: { ...filled.inHand, isRepeated: true } }
      return {
        result: { recovery, items, subscription, waitMs: next.waitMs },
        writing: writingOf(noted, LEASE_MS),
      }
    })
  }

  const limitsOf = ({ maxPerSecond }: Recovery, { enabled }: Subscription) => ({
    isEnabled: enabled,
    mostPerSecond: Math.min(maxPerSecond ?? deps.mostPerSecond, deps.mostPerSecond),
  })

  async function fill(recovery: Recovery, limit: number): Promise<Recovery> {
    const { subscriptionId, after, until, selection } = recovery
    const found = await deps.parked.take(subscriptionId, { after, until, reason: selection.reason }, limit)
    return withItems(recovery, found.entries, found.after)
  }

  async function sampleOf({ sample }: Recovery, nowMs: number): Promise<Sample> {
    if (sample === null) return { kind: 'none' }
    const state = await deps.parked.stateOf({ deliveryId: sample.deliveryId, run: sample.run + 1 })
    if (state === 'acknowledged') return { kind: 'acknowledged' }
    if (state === 'waiting' || state === 'parked') return { kind: 'failed' }
    const isGone = state === 'unknown' || state === 'withdrawn'
    // What takes so long was lost sight of, or the workers are away: another one may tell more.
    if (isGone || nowMs - sample.sentAtMs >= PATIENCE_MS) return { kind: 'none' }
    return { kind: 'unanswered', sinceMs: sample.sentAtMs }
  }

  async function carryOut(tenant: string | null, { recovery, items, subscription, waitMs }: Taken): Promise<void> {
    const { recoveryId, turn, inHand } = recovery
    const startedAtMs = now()
    const isOurs = (present: Recovery | undefined): present is Recovery => present?.turn === turn
    const sent = await deps.send({
      recoveryId,
      items,
      subscription,
      isRepeated: inHand?.isRepeated ?? true,
      mayGoOn: async () => {
        const present = await deps.find(tenant, recoveryId)
        return isOurs(present) && present.state === 'running'
      },
    })
    const noted = await transact<Noted | undefined>(tenant, [recoveryKey(recoveryId)], ([stored]) => {
      const present = stored as Recovery | undefined
      if (!isOurs(present)) return { result: undefined }
      const leftMs = Math.max(0, waitMs - (now() - startedAtMs))
      const next = withSending(present, sent, { waitMs: leftMs, nowMs: now() })
      return noting(present, next.recovery, next.dueInMs)
    })
    if (noted !== undefined) tell(noted)
  }

  function tell({ before, after }: Noted): void {
    meter.noted(before, after)
    const { recoveryId, subscriptionId, state, found, sent, skipped, failed, endedAt } = after
    const counts = { found, sent, skipped, failed }
    if (endedAt !== null) log.info('a recovery has ended', { recoveryId, subscriptionId, state, ...counts })
  }

  function track(work: Promise<void>): void {
    const tracked = work.finally(() => sending.delete(tracked))
    sending.add(tracked)
  }

  return {
    timerDue: async ({ tenant, payload }) => {
      const timer = payload as RecoveryTimer
      const taken = await take(tenant, timer)
      if (taken === undefined) return
      if (!('items' in taken)) return tell(taken)
      track(
        carryOut(tenant, taken).catch((error: unknown) => {
          log.warn('a turn of a recovery was broken off, will be repeated', { recoveryId: timer.recoveryId, error })
        }),
      )
    },
    idle: async () => {
      await Promise.all(sending)
    },
  }
}

/** A step that takes nothing in hand. */
const noting = (before: Recovery, after: Recovery, dueInMs?: number): Step<Noted> => ({
  result: { before, after },
  writing: writingOf(after, dueInMs),
})
