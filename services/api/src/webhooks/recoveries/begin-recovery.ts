import { parseRecoveryId, type RecoveryId, type Subscription } from '@switchhook/contracts'
import { microsOf, type ParkedWindow } from '@switchhook/store'
import type { Answer, RouteRequest } from '../../http/route.ts'
import type { WebhookParts } from '../stores.ts'
import { newRecovery, type Recovery, rangeOf, viewOf } from './recovery.ts'
import type { RecoveryBook } from './recovery-book.ts'
import { countItems, listOf } from './recovery-list.ts'
import type { RecoveryRequest } from './recovery-schema.ts'

export const RECOVERIES = '/api/v1/webhooks/recoveries'

export interface RecoveryRouteDeps extends Pick<WebhookParts, 'subscriptions' | 'parkedCounts' | 'journal' | 'now'> {
  readonly recoveries: RecoveryBook
  readonly parked: ParkedWindow
}

/** What the list of a recovery contains. */
export interface WantedRecovery extends Pick<Recovery, 'kind' | 'selection'> {
  readonly subscription: Subscription
}

/**
 * Counts what a recovery would send. Those without a body count as failed from the beginning, and use up no pace.
 * @returns `shown`: what a preview shows
 */
export async function countRecovery(
  deps: Pick<RecoveryRouteDeps, 'parked' | 'parkedCounts' | 'journal'>,
  subscription: Subscription,
  { kind, startedBy, selection }: Pick<Recovery, 'kind' | 'startedBy' | 'selection'>,
) {
  // The recovery ends at the current end of the list: deliveries that it parks again come later.
  const parkedUntil = await deps.parked.newest(subscription.id)
  const newest = kind === 'backfill' ? String(microsOf(await deps.journal.newest(subscription.tenant))) : parkedUntil
  const { after, until } = rangeOf(selection, newest)
  const { bodiesUntil } = await deps.parkedCounts.count(subscription.id)
  const list = listOf(deps, subscription, { kind, startedBy, selection, until }, bodiesUntil)
  const { sendableAfter, unknown, ...found } = await countItems(list, after)
  const { count, withoutBody: failed } = found
  return {
    shown: { ...found, ...(kind === 'backfill' && { unknown }) },
    counted: { found: count + failed, failed, after: sendableAfter, until, parkedUntil },
  }
}

/** Begins a recovery, unless the subscription has one. */
export async function beginRecovery(
  deps: RecoveryRouteDeps,
  { caller: { tenant }, body, idFor }: RouteRequest<Pick<RecoveryRequest, 'maxPerSecond'>>,
  { subscription, ...wanted }: WantedRecovery,
): Promise<Answer> {
  const recoveryId = parseRecoveryId(idFor('recovery'))
  const ids = { recoveryId, subscriptionId: subscription.id }
  const asked = { ...ids, ...wanted, startedBy: 'request' as const, maxPerSecond: body.maxPerSecond ?? null }
  // Before counting, because counting is expensive.
  const present = await deps.recoveries.begun(tenant, asked)
  if (present !== undefined) return accepted(deps, present, recoveryId)
  const startedAtMs = deps.now()
  const { counted } = await countRecovery(deps, subscription, asked)
  return accepted(
    deps,
    await deps.recoveries.begin(tenant, newRecovery({ ...asked, ...counted }, startedAtMs)),
    recoveryId,
  )
}

async function accepted(deps: RecoveryRouteDeps, recovery: Recovery, askedId: RecoveryId): Promise<Answer> {
  return {
    status: 202,
    body: await view(deps, recovery),
    headers: { Location: `${RECOVERIES}/${recovery.recoveryId}` },
    // A request that is repeated after a crash finds the recovery that it began itself, and is audited.
    isUnchanged: recovery.recoveryId !== askedId,
  }
}

export const view = async ({ parked }: Pick<RecoveryRouteDeps, 'parked'>, recovery: Recovery) =>
  viewOf(recovery, await parked.countAfter(recovery.subscriptionId, recovery.parkedUntil))
