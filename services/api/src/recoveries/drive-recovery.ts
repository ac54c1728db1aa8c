import { EVENT_TYPES, type Subscription } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import type { BreakerStore, DueTimer, ParkedWindow } from '@switchhook/store'
import type { Step, Transact } from '../state/transact.ts'
import type { BackfillWindow } from './backfill-window.ts'
import { MAX_STALLED_MS, planStep, SAMPLE_TIMEOUT_MS, type Sample } from './pace.ts'
import {
  type BatchResult,
  cancelled,
  done,
  type Item,
  isComplete,
  type Recovery,
  type RecoveryChange,
  releaseBatch,
  stalledMsOf,
  withItems,
  withPlan,
  withResult,
} from './recovery.ts'
import { keyOf, type RecoveryTimer, recoveryKey, writingOf } from './recovery-book.ts'
import type { RecoveryMeter } from './recovery-meter.ts'
import type { SendRequest } from './send-items.ts'

type Timer = Pick<DueTimer, 'tenant' | 'payload'>

/** Runs the steps of recoveries. After a crash, another replica continues. */
export interface RecoveryDriver {
  /** Begins the step whose timer is due. Resolves before its batch is sent: other timers must not wait for that. */
  timerDue(timer: Timer): Promise<void>
  /** Resolves when no batch is being sent. */
  idle(): Promise<void>
}

export interface RecoveryDriverDeps {
  readonly transact: Transact
  readonly find: (tenant: string | null, recoveryId: Recovery['recoveryId']) => Promise<Recovery | undefined>
  readonly look: BreakerStore['look']
  readonly parked: Pick<ParkedWindow, 'take' | 'stateOf'>
  readonly backfill: Pick<BackfillWindow, 'take'>
  readonly send: (request: SendRequest) => Promise<BatchResult>
  /** Maximum deliveries per second of one recovery. */
  readonly mostPerSecond: number
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly meter: RecoveryMeter
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/** A step whose batch this replica has to send before the lease ends. */
interface Begun {
  readonly recovery: Recovery
  readonly items: readonly Item[]
  readonly subscription: Subscription
  /** Time from the beginning of this step to the next one. */
  readonly waitMs: number
}

/** Longer than the broker takes to confirm, or to be declared away, and Redis to store the result. */
const LEASE_MS = 15_000

/**
 * A step has three parts. First the plan and the batch are stored, together with a timer at the end of the lease. Then the
 * batch is sent. Then its result is stored, together with the timer of the next step. Every write increments the number of
 * the step (`turn`), and a timer or result with another number is ignored: of two replicas with the same timer, one begins
 * the step. If a replica dies, the timer of the lease begins the next step, which sends the same runs of the same batch.
 */
export function createRecoveryDriver(deps: RecoveryDriverDeps): RecoveryDriver {
  const { transact, now, meter, log } = deps
  const sending = new Set<Promise<void>>()

  /** Resolves to the step to send, or to the stored change if there is nothing to send; undefined: the timer is outdated. */
  async function beginStep(
    tenant: string | null,
    { recoveryId, turn, key = recoveryKey(recoveryId) }: RecoveryTimer,
  ): Promise<Begun | RecoveryChange | undefined> {
    return transact<Begun | RecoveryChange | undefined>(tenant, [key], async ([stored]) => {
      const present = stored as Recovery | undefined
      if (present?.turn !== turn) return { result: undefined }
      const nowMs = now()
      const write = (recovery: Recovery, dueInMs?: number) => changeTo(present, recovery, dueInMs)
      if (present.state !== 'running')
        return present.isSending ? write(releaseBatch(present, nowMs)) : { result: undefined }
      const { health, subscription } = await deps.look({ tenant, subscriptionId: present.subscriptionId })
      if (subscription === undefined)
        return write(cancelled(releaseBatch(present, nowMs), 'subscription-deleted', nowMs))

      if (isComplete(present)) return write(done(present, nowMs))
      const sample = await sampleOf(present, nowMs)
      const { isEnabled, mostPerSecond } = limitsOf(present, subscription)
      const stalledMs = stalledMsOf(present, nowMs)
      const plan = planStep(present.pace, { isEnabled, health, sample, mostPerSecond, stalledMs, nowMs })
      const isGivenUp = plan.take === 0 && stalledMs >= MAX_STALLED_MS
      if (isGivenUp) return write(cancelled(releaseBatch(present, nowMs), 'no-progress', nowMs))
      const planned = withPlan(present, plan, sample, nowMs)
      if (plan.take === 0) return write(planned, plan.waitMs)

      const filled = planned.inHand === null && !planned.isReadOut ? await fill(tenant, planned, plan.take) : planned
      if (isComplete(filled)) return write(done(filled, nowMs))
      if (filled.inHand === null) return write(filled, 0)
      const items = filled.inHand.items.slice(0, plan.take)
      const recovery = { ...filled, isSending: true }
      // If this replica dies, the next step cannot know which items were sent.
      const leased = { ...recovery, inHand: { ...filled.inHand, isRepeated: true } }
      return {
        result: { recovery, items, subscription, waitMs: plan.waitMs },
        writing: writingOf(leased, LEASE_MS),
      }
    })
  }

  const limitsOf = ({ maxPerSecond }: Recovery, { enabled }: Subscription) => ({
    isEnabled: enabled,
    mostPerSecond: Math.min(maxPerSecond ?? deps.mostPerSecond, deps.mostPerSecond),
  })

  async function fill(tenant: string | null, recovery: Recovery, limit: number): Promise<Recovery> {
    const { subscriptionId, after, until, selection, kind } = recovery
    const { reason, eventTypes = null } = selection
    const found =
      kind === 'backfill'
        ? await deps.backfill.take(
            { tenant, subscriptionId },
            { after, until, eventTypes: eventTypes ?? EVENT_TYPES },
            limit,
          )
        : await deps.parked.take(subscriptionId, { after, until, reason, eventTypes }, limit)
    return withItems(recovery, found.entries, found.after)
  }

  async function sampleOf({ sample }: Recovery, nowMs: number): Promise<Sample> {
    if (sample === null) return { kind: 'none' }
    const state = await deps.parked.stateOf({ deliveryId: sample.deliveryId, run: sample.run + 1 })
    if (state === 'acknowledged') return { kind: 'acknowledged' }
    if (state === 'waiting' || state === 'parked') return { kind: 'failed' }
    const isGone = state === 'unknown' || state === 'withdrawn'
    // After the timeout the delivery was lost sight of, or no worker runs: another sample is more useful.
    if (isGone || nowMs - sample.sentAtMs >= SAMPLE_TIMEOUT_MS) return { kind: 'none' }
    return { kind: 'unanswered', sinceMs: sample.sentAtMs }
  }

  async function sendBatch(tenant: string | null, { recovery, items, subscription, waitMs }: Begun): Promise<void> {
    const { recoveryId, turn, inHand } = recovery
    const startedAtMs = now()
    const isCurrentStep = (present: Recovery | undefined): present is Recovery => present?.turn === turn
    const result = await deps.send({
      recoveryId,
      items,
      subscription,
      isRepeated: inHand?.isRepeated ?? true,
      mayContinue: async () => {
        const present = await deps.find(tenant, recoveryId)
        return isCurrentStep(present) && present.state === 'running'
      },
    })
    const change = await transact<RecoveryChange | undefined>(tenant, [keyOf(recovery)], ([stored]) => {
      const present = stored as Recovery | undefined
      if (!isCurrentStep(present)) return { result: undefined }
      const leftMs = Math.max(0, waitMs - (now() - startedAtMs))
      const next = withResult(present, result, { waitMs: leftMs, nowMs: now() })
      return changeTo(present, next.recovery, next.dueInMs)
    })
    if (change !== undefined) report(change)
  }

  function report(change: RecoveryChange): void {
    meter.changed(change)
    const { recoveryId, subscriptionId, state, found, sent, skipped, failed, endedAt } = change.after
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
      const begun = await beginStep(tenant, timer)
      if (begun === undefined) return
      if (!('items' in begun)) return report(begun)
      track(
        sendBatch(tenant, begun).catch((error: unknown) => {
          log.warn('a step of a recovery failed and will be repeated', { recoveryId: timer.recoveryId, error })
        }),
      )
    },
    idle: async () => {
      await Promise.all(sending)
    },
  }
}

const changeTo = (before: Recovery, after: Recovery, dueInMs?: number): Step<RecoveryChange> => ({
  result: { before, after },
  writing: writingOf(after, dueInMs),
})
