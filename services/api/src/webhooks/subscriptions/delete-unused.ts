import type { Subscription, SubscriptionId } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import type { HeldStore, PullerStore, StateStore, SubscriptionStore, UptimeStore } from '@switchhook/store'
import type { AuditLog } from '../../http/audit/audit-log.ts'
import type { Auth } from '../../http/auth/open-auth.ts'
import type { TimerOwners } from '../../state/timer-loop.ts'
import { timeUntilUnused } from './unused-time.ts'

interface UnusedDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'find' | 'remove' | 'removeLists'>
  readonly pullers: Pick<PullerStore, 'find'>
  readonly uptime: Pick<UptimeStore, 'read'>
  readonly auth: Pick<Auth, 'unreachableMsAgo'>
  readonly held: Pick<HeldStore, 'visitSoon' | 'count'>
  readonly state: Pick<StateStore, 'commit'>
  readonly auditLog: Pick<AuditLog, 'recordOwn'>
  readonly log: Pick<Logger, 'info'>
}

interface Payload {
  readonly subscriptionId: SubscriptionId
  /** Milliseconds since 1970: unused since then, unless a client has received later. */
  readonly sinceMs: number
  /** The setting that the timer belongs to. */
  readonly seconds: number
  /** Set before the deletion: a process that dies after it leaves this timer, whose next run makes the audit entry. */
  readonly isLast?: boolean
}

/** Timers of former settings and of deleted subscriptions do nothing, and are gone after this time. */
const LOOK_EVERY_MS = 15 * 60_000

/**
 * Sets the timer that deletes a subscription that no client receives. It must precede the setting in the store: a timer
 * alone does nothing, and a setting without its timer has no effect. Each value has a timer of its own, so that of two
 * concurrent changes the one that is stored last has its timer.
 * @param sinceMs milliseconds since 1970: it counts as unused since then, unless a client has received later
 * @param leftMs until it can be unused for long enough; absent: the whole time of the setting
 */
export async function watchUse(
  state: Pick<StateStore, 'commit'>,
  { id, tenant, deleteAfterUnusedSeconds: seconds }: Pick<Subscription, 'id' | 'tenant' | 'deleteAfterUnusedSeconds'>,
  sinceMs: number,
  leftMs?: number,
  last: Pick<Payload, 'isLast'> = {},
): Promise<void> {
  if (seconds === undefined) return
  const payload: Payload = { subscriptionId: id, sinceMs, seconds, ...last }
  const timer = { id: `unused:${id}:${seconds}`, dueInMs: Math.min(leftMs ?? seconds * 1_000, LOOK_EVERY_MS), payload }
  await state.commit(tenant, { records: [], events: [], timers: [timer] })
}

/** What the removal of a subscription throws if it is not to be removed. */
const KEPT = new Error('the setting was changed')

/** Handles the timers of `watchUse`: deletes the subscription, or sets the timer again. */
export const createDeleteUnused =
  ({ subscriptions, pullers, uptime, auth, held, state, auditLog, log }: UnusedDeps): TimerOwners[string] =>
  async ({ tenant, payload }) => {
    const { subscriptionId: id, sinceMs, seconds, isLast = false } = payload as Payload
    const which = { tenant, subscriptionId: id }
    async function conclude(): Promise<void> {
      // First, because it can fail: then all of this runs again, and a second audit entry would look like a second deletion.
      await held.visitSoon(which)
      await subscriptions.removeLists(id)
      await auditLog.recordOwn(tenant, 'subscription.deleted', { subscriptionId: id })
      log.info('a pull subscription was deleted, because no client received its deliveries', which)
    }
    const watched = await subscriptions.find(tenant, id)
    if (watched === undefined && isLast) return conclude()
    if (watched?.deleteAfterUnusedSeconds === undefined) return
    if (seconds !== watched.deleteAfterUnusedSeconds) return
    const [up, { leased }] = await Promise.all([uptime.read(), held.count(id)])
    const { lastAtMs } = await pullers.find(id, up.nowMs)
    // Without its identity provider, a client could not ask.
    const askableAtMs = up.nowMs - auth.unreachableMsAgo(tenant)
    // A client may still handle what it received long ago.
    const usedAtMs = leased > 0 ? up.nowMs : Math.max(sinceMs, lastAtMs ?? 0, askableAtMs)
    const leftMs = timeUntilUnused(up, usedAtMs, seconds * 1_000)
    if (leftMs > 0) return watchUse(state, watched, usedAtMs, leftMs)
    if (!isLast) return watchUse(state, watched, usedAtMs, 0, { isLast: true })
    const isRemoved = await subscriptions
      .remove(tenant, id, (present) => {
        // The change has set a timer of its own.
        if (present.deleteAfterUnusedSeconds !== seconds) throw KEPT
      })
      .catch((error: unknown) => {
        if (error === KEPT) return false
        throw error
      })
    if (isRemoved) await conclude()
  }
