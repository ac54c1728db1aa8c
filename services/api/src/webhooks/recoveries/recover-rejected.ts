import { isGuid, parseSubscriptionId } from '@switchhook/contracts'
import type { RejectionStore, StateStore, SubscriptionStore } from '@switchhook/store'
import type { TimerOwners } from '../../state/timer-loop.ts'
import { type CountDeps, countParked } from './count-parked.ts'
import type { RecoveriesDeps } from './recoveries-deps.ts'
import { newRecovery, type Recovery } from './recovery.ts'
import type { RecoveryBook } from './recovery-book.ts'

export interface RecoverRejectedDeps extends CountDeps, Pick<RecoveriesDeps, 'now' | 'log'> {
  readonly subscriptions: Pick<SubscriptionStore, 'find'>
  readonly rejections: Pick<RejectionStore, 'find' | 'remove'>
  readonly recoveries: Pick<RecoveryBook, 'list' | 'begin'>
  readonly state: Pick<StateStore, 'commit'>
}

/** Between the starts of two recoveries of rejected deliveries of a subscription. */
const AT_MOST_EVERY_MS = 5 * 60_000
/** How often it is checked whether another recovery of the subscription has ended. */
const WHILE_RUNNING_MS = 60_000

/**
 * Handles the timers that workers set when an endpoint acknowledges a delivery after it has rejected some: begins the recovery
 * of these (`recoverRejected`, ADR 0078), or sets the timer again. Can be repeated: the recovery has the id that was noted with
 * the rejections.
 */
export const createRecoverRejected =
  (deps: RecoverRejectedDeps): TimerOwners[string] =>
  async ({ tenant, payload }) => {
    const { subscriptionId: id } = payload as { readonly subscriptionId: string }
    if (!isGuid(id)) return
    const subscriptionId = parseSubscriptionId(id)
    const endpoint = { tenant, subscriptionId }
    const rejections = await deps.rejections.find(endpoint)
    const subscription = rejections && (await deps.subscriptions.find(tenant, subscriptionId))
    // The next 2xx after it is enabled asks again.
    if (rejections === undefined || subscription?.recoverRejected !== true || !subscription.enabled) return
    const { recoveryId, sinceMs } = rejections
    const nowMs = deps.now()
    const recoveries = await deps.recoveries.list(tenant, subscriptionId)
    if (!recoveries.some((recovery) => recovery.recoveryId === recoveryId)) {
      const dueInMs = waitMsAfter(recoveries, nowMs)
      if (dueInMs > 0) {
        const timer = { id: `rejected:${id}`, dueInMs, payload }
        await deps.state.commit(tenant, { records: [], events: [], timers: [timer] })
        return
      }
      const selection = { from: new Date(sinceMs).toISOString(), to: null, reason: 'rejected' } as const
      const startedBy = 'recoverRejected'
      const { shown: _, ...counted } = await countParked(deps, subscriptionId, { selection, startedBy })
      if (counted.found > counted.failed) {
        const fixed = { recoveryId, subscriptionId, startedBy, selection, maxPerSecond: null } as const
        await deps.recoveries.begin(tenant, newRecovery({ ...fixed, ...counted }, nowMs))
        deps.log.info('a recovery of rejected deliveries has begun', { ...endpoint, recoveryId, found: counted.found })
      }
    }
    await deps.rejections.remove(endpoint, rejections)
  }

/** @param recoveries of the subscription, the newest first */
function waitMsAfter(recoveries: readonly Recovery[], nowMs: number): number {
  if (recoveries[0]?.state === 'running') return WHILE_RUNNING_MS
  const last = recoveries.find(({ startedBy }) => startedBy !== undefined)
  return last === undefined ? 0 : Date.parse(last.startedAt) + AT_MOST_EVERY_MS - nowMs
}
