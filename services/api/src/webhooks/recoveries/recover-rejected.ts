import { AppError, type RecoveryId, type Subscription, type SubscriptionId, type Tenant } from '@switchhook/contracts'
import type { DueTimer, Rejections, StateStore } from '@switchhook/store'
import type { WebhookParts } from '../stores.ts'
import { countRecovery, type RecoveryRouteDeps } from './begin-recovery.ts'
import { newRecovery, type Recovery } from './recovery.ts'

interface RecoverRejectedDeps extends RecoveryRouteDeps, Pick<WebhookParts, 'rejections' | 'log'> {
  readonly store: Pick<StateStore, 'commit'>
}

interface Question {
  readonly subscriptionId: SubscriptionId
  /** The recovery of a replica that is counting. */
  readonly counting?: RecoveryId
}

/** Between the starts of two recoveries of rejected deliveries of a subscription. */
const AT_MOST_EVERY_MS = 5 * 60_000
/** How often it is checked whether another recovery of the subscription has ended. */
const WHILE_RUNNING_MS = 60_000
/** Counting 100,000 parked deliveries takes seconds. If the replica dies, another one counts afterwards. */
const COUNT_LEASE_MS = 15_000

/**
 * Handles the timers that workers set when an endpoint acknowledges a delivery after it has rejected some: begins the
 * recovery of these (ADR 0078), or sets the timer again. Can be repeated: the id of the recovery was recorded with the
 * rejections.
 */
export function createRecoverRejected(deps: RecoverRejectedDeps) {
  const counting = new Map<RecoveryId, Promise<void>>()

  async function setTimer(tenant: Tenant, payload: Question, dueInMs: number): Promise<void> {
    const timer = { id: `rejected:${payload.subscriptionId}`, dueInMs, payload }
    await deps.store.commit(tenant, { records: [], events: [], timers: [timer] })
  }

  async function begin(subscription: Subscription, rejections: Rejections): Promise<void> {
    const { tenant, id: subscriptionId } = subscription
    const { recoveryId, sinceMs } = rejections
    const selection = { from: new Date(sinceMs).toISOString(), to: null, reason: 'rejected', eventTypes: null } as const
    const wanted = { kind: 'recovery', startedBy: 'recoverRejected', selection } as const
    const { counted } = await countRecovery(deps, subscription, wanted)
    // Without it, the setting was changed meanwhile.
    const isRecorded = (await deps.rejections.find({ tenant, subscriptionId })) !== undefined
    if (isRecorded && counted.found > counted.failed) {
      const asked = { ...wanted, recoveryId, subscriptionId, maxPerSecond: null }
      await deps.recoveries.begin(tenant, newRecovery({ ...asked, ...counted }, deps.now()))
      const { found } = counted
      deps.log.info('a recovery of rejected deliveries has begun', { tenant, subscriptionId, recoveryId, found })
    }
    await deps.rejections.remove({ tenant, subscriptionId }, rejections)
  }

  /** Resolves before the deliveries are counted: other timers must not wait for that. */
  async function timerDue({ tenant, payload }: Pick<DueTimer, 'tenant' | 'payload'>): Promise<void> {
    const question = payload as Question
    const { subscriptionId } = question
    const endpoint = { tenant, subscriptionId }
    const rejections = await deps.rejections.find(endpoint)
    const subscription = rejections && (await deps.subscriptions.find(tenant, subscriptionId))
    // The next 2xx after it is enabled asks again.
    if (rejections === undefined || subscription?.recoverRejected !== true || !subscription.enabled) return
    const { recoveryId } = rejections
    const recoveries = await deps.recoveries.list(tenant, subscriptionId)
    const hasBegun = (wanted: RecoveryId): boolean => recoveries.some((recovery) => recovery.recoveryId === wanted)
    // It was recorded since then, so the next 2xx asks.
    if (question.counting !== undefined && question.counting !== recoveryId && hasBegun(question.counting)) return
    if (hasBegun(recoveryId)) return deps.rejections.remove(endpoint, rejections)
    const waitMs = waitMsAfter(recoveries, deps.now())
    if (waitMs > 0) return setTimer(tenant, { subscriptionId }, waitMs)
    await setTimer(tenant, { subscriptionId, counting: recoveryId }, COUNT_LEASE_MS)
    if (counting.has(recoveryId)) return
    const begun = begin(subscription, rejections)
      .catch(async (error: unknown) => {
        deps.log.warn('a recovery of rejected deliveries could not begin; it is tried again', { ...endpoint, error })
        // Too many of the tenant run. Counting, and finding that, is expensive.
        if (error instanceof AppError) await setTimer(tenant, { subscriptionId }, AT_MOST_EVERY_MS)
      })
      // Without Redis, the lease ends.
      .catch(() => {})
      .finally(() => counting.delete(recoveryId))
    counting.set(recoveryId, begun)
  }

  return {
    timerDue,
    /** Resolves when nothing is being counted. */
    idle: () => Promise.all(counting.values()),
  }
}

/** @param recoveries of the subscription, the newest first */
function waitMsAfter(recoveries: readonly Recovery[], nowMs: number): number {
  if (recoveries[0]?.state === 'running') return WHILE_RUNNING_MS
  const last = recoveries.find(({ startedBy }) => startedBy === 'recoverRejected')
  return last === undefined ? 0 : Date.parse(last.startedAt) + AT_MOST_EVERY_MS - nowMs
}
