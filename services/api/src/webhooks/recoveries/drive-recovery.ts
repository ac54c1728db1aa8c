import { factsOfState, hasLimits, isPaused, type Subscription, type Tenant } from '@switchhook/contracts'
import type { DueTimer } from '@switchhook/store'
import type { Step, Transact } from '../../state/transact.ts'
import { planStep } from './pace.ts'
import { cancelled, done, nextStep, type Recovery, type RecoveryChange, withResults } from './recovery.ts'
import { type RecoveriesDeps, type RecoveryTimer, recoveryKey, writingOf } from './recovery-book.ts'
import { listOf, takeItems } from './recovery-list.ts'
import { type Batch, sendItems } from './send-items.ts'

/** A step whose batch this replica has to send before the lease ends. */
interface BegunBatch extends Batch {
  readonly recovery: Recovery
  /** Time from the beginning of this step to the next one. */
  readonly waitMs: number
}

/** Longer than the broker takes to confirm, or to be declared away, and Redis to store the result. */
const LEASE_MS = 15_000
/** Longer than any attempt. A sample without a result by then was lost sight of, or no worker runs; the next one replaces it. */
const SAMPLE_TIMEOUT_MS = 60_000
/** Of what an automatic recovery has sent. Beyond it, the rest waits for the next one: each delivery is sent again only once. */
const MAX_PARKED_AGAIN = 0.25
/** A recovery that waits and has made no progress for this long is cancelled: its condition may never be met. */
const MAX_STALLED_MS = 30 * 24 * 60 * 60_000

/**
 * Runs the steps of recoveries (`recoveries-feature.ts` describes them). Every write increments the number of the step
 * (`step`), and a timer or result with another number is ignored: of two replicas with the same timer, one begins the step.
 */
export function createRecoveryDriver(deps: RecoveriesDeps, transact: Transact) {
  const { now, meter, log } = deps
  const sending = new Set<Promise<void>>()

  /** Resolves to the step to send, or to the stored change if there is nothing to send; undefined: the timer is outdated. */
  async function beginStep(tenant: Tenant, { recoveryId, step }: RecoveryTimer) {
    return transact<BegunBatch | RecoveryChange | undefined>(tenant, [recoveryKey(recoveryId)], async ([stored]) => {
      const present = stored as Recovery | undefined
      if (present?.step !== step) return { result: undefined }
      const nowMs = now()
      const next = nextStep(present, nowMs)
      const released = { ...next, batch: [] }
      const write = (recovery: Recovery, dueInMs?: number) => changeTo(present, recovery, dueInMs)
      // The replica that was sending it when it was cancelled has died.
      if (present.state !== 'running') return present.isSending ? write(released) : { result: undefined }
      const { health, subscription } = await deps.readEndpoint({ tenant, subscriptionId: present.subscriptionId })
      if (subscription === undefined) return write(cancelled(released, 'subscription-deleted', nowMs))
      // It would wait for a pause or a cool-down to end, and keep others from beginning, to send nothing. What has lost its
      // body counts as failed from the beginning.
      if (present.found === present.failed) return write(done(released, nowMs))

      if (await isInVain(present)) {
        // First, because the change ends this step. The next 2xx begins with what this recovery has not read.
        const endpoint = { tenant, subscriptionId: present.subscriptionId }
        if (subscription.recoverRejected) await deps.rejections.record(endpoint, Number(present.after) / 1_000)
        return write(cancelled(released, 'parked-again', nowMs))
      }
      const mostPerSecond = Math.min(present.maxPerSecond ?? deps.mostPerSecond, deps.mostPerSecond)
      const stalledMs = nowMs - Date.parse(present.progressedAt)
      const unansweredMs = await unansweredMsOf(present, subscription, nowMs)
      // Clients decide how fast they receive what a pull subscription holds. The journal forgets what a backfill waits for.
      const waits = subscription.mode !== 'pull' && present.kind !== 'backfill'
      const isHeld = waits && isPaused(subscription, nowMs)
      const allowed = { isEnabled: subscription.enabled, isPaused: isHeld, mostPerSecond }
      const conditions = { ...allowed, health, unansweredMs, stalledMs, nowMs }
      const { take, waitMs, pace, waitingFor } = planStep(present.pace, conditions)
      if (take === 0 && stalledMs >= MAX_STALLED_MS) return write(cancelled(released, 'no-progress', nowMs))
      // Only sending shows whether the broker is back.
      const stillWaitingFor = present.waitingFor === 'broker' ? present.waitingFor : null
      const sample = unansweredMs === null ? null : present.sample
      const planned = { ...next, pace, sample, waitingFor: waitingFor ?? stillWaitingFor }
      if (take === 0) return write(planned, waitMs)

      const filled = present.batch.length === 0 ? await fill(subscription, planned, take) : planned
      if (filled.batch.length === 0) return filled.isReadOut ? write(done(filled, nowMs)) : write(filled, 0)
      const recovery = { ...filled, isSending: true }
      const items = filled.batch.slice(0, take)
      return {
        result: { recovery, items, isRepeated: present.batch.length > 0, subscription, waitMs },
        writing: writingOf(recovery, LEASE_MS),
      }
    })
  }

  /**
   * Whether it began automatically, and the endpoint rejects too much of what it has sent. What others have sent says nothing
   * about that: an endpoint may go on rejecting one kind of delivery. What it has read is sent first.
   */
  async function isInVain(present: Recovery): Promise<boolean> {
    if (present.startedBy === 'request' || present.isReadOut || present.batch.length > 0) return false
    const again = await deps.parked.countAgain(present.subscriptionId, present.parkedUntil)
    return again > 0 && again >= present.sent * MAX_PARKED_AGAIN
  }

  /** Takes the next items of the list, unless it was read to its end. */
  async function fill(subscription: Subscription, recovery: Recovery, limit: number): Promise<Recovery> {
    if (recovery.isReadOut) return recovery
    const { items: batch, after } = await takeItems(listOf(deps, subscription, recovery), recovery.after, limit)
    return { ...recovery, batch, after: after ?? recovery.until, isReadOut: after === null }
  }

  /**
   * How long the sample has had no result; null: it has one, was lost sight of, or there is none. One that is held by limits
   * has none either: new events would be held behind all that the recovery adds.
   */
  async function unansweredMsOf({ sample }: Recovery, subscription: Subscription, nowMs: number) {
    if (sample === null) return null
    const found = await deps.deliveries.find(sample.deliveryId)
    const next = found?.run === sample.run + 1 ? factsOfState(found.state).next : 'none'
    const isUnanswered = next === 'due' || (next === 'held' && hasLimits(subscription))
    const unansweredMs = nowMs - sample.sentAtMs
    return isUnanswered && unansweredMs < SAMPLE_TIMEOUT_MS ? unansweredMs : null
  }

  async function sendBatch(tenant: Tenant, begun: BegunBatch) {
    const { recovery, waitMs } = begun
    const startedAtMs = now()
    const results = await sendItems(deps, begun)
    const change = await transact<RecoveryChange | undefined>(
      tenant,
      [recoveryKey(recovery.recoveryId)],
      ([stored]) => {
        const present = stored as Recovery | undefined
        // Another replica has taken over, because the lease has ended.
        if (present?.step !== recovery.step) return { result: undefined }
        const leftMs = Math.max(0, waitMs - (now() - startedAtMs))
        const next = withResults(present, results, { waitMs: leftMs, nowMs: now() })
        return changeTo(present, next.recovery, next.dueInMs)
      },
    )
    if (change !== undefined) report(change)
  }

  function report(change: RecoveryChange): void {
    meter.changed(change)
    const { recoveryId, subscriptionId, state, found, sent, skipped, failed, endedAt } = change.after
    const counts = { found, sent, skipped, failed }
    if (endedAt !== null) log.info('a recovery has ended', { recoveryId, subscriptionId, state, ...counts })
  }

  return {
    /** Begins the step whose timer is due. Resolves before its batch is sent: other timers must not wait for that. */
    timerDue: async ({ tenant, payload }: Pick<DueTimer, 'tenant' | 'payload'>): Promise<void> => {
      const timer = payload as RecoveryTimer
      const begun = await beginStep(tenant, timer)
      if (begun === undefined) return
      if (!('items' in begun)) return report(begun)
      const sent = sendBatch(tenant, begun)
        .catch((error: unknown) => {
          log.warn('a step of a recovery failed and will be repeated', { recoveryId: timer.recoveryId, error })
        })
        .finally(() => sending.delete(sent))
      sending.add(sent)
    },
    /** Resolves when no batch is being sent. */
    idle: () => Promise.all(sending),
  }
}

const changeTo = (before: Recovery, after: Recovery, dueInMs?: number): Step<RecoveryChange> => ({
  result: { before, after },
  writing: writingOf(after, dueInMs),
})
