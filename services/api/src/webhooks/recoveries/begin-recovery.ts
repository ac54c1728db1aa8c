import { parseRecoveryId, type RecoveryId, type SubscriptionId } from '@switchhook/contracts'
import type { ParkedWindow } from '@switchhook/store'
import { invalidBody } from '../../http/read-body.ts'
import { windowFault, windowOf } from '../../http/read-range.ts'
import { type Answer, acts, type RouteOf, type RouteRequest } from '../../http/route.ts'
import type { Schema } from '../../http/schema.ts'
import { momentOf } from '../moment.ts'
import type { WebhookParts } from '../stores.ts'
import { listEndAtStart, newRecovery, type Recovery, rangeOf, type Selection } from './recovery.ts'
import type { RecoveryBook } from './recovery-book.ts'
import { type RecoveryRequest, recoveryCountSchema, recoverySchema, viewOf } from './recovery-schema.ts'

export const RECOVERIES = '/api/v1/webhooks/recoveries'

export interface RecoveryRouteDeps extends Pick<WebhookParts, 'subscriptions' | 'parkedCounts' | 'journal' | 'now'> {
  readonly recoveries: RecoveryBook
  readonly parked: ParkedWindow
}

const selecting = (body: Schema) =>
  ({
    ...acts('deliveries'),
    isExpensive: true,
    body,
    validate: (asked, faults) =>
      faults.length > 0 ? invalidBody(body, faults) : windowFault(asked as RecoveryRequest),
  }) satisfies Partial<RouteOf<unknown>>

/** What the two routes that begin a recovery have in common. */
export const beginning = (action: 'recovery.started' | 'backfill.started', answer: string, body: Schema) =>
  ({
    ...selecting(body),
    idempotent: true,
    audit: { action, ids: ['subscriptionId', 'recoveryId'] },
    responses: {
      202: {
        description: answer,
        body: recoverySchema,
        headers: { Location: { type: 'string', description: 'The path of the recovery.' } },
      },
    },
  }) satisfies Partial<RouteOf<unknown>>

/** What the two routes that only count have in common. */
export const counting = (body: Schema) =>
  ({
    ...selecting(body),
    role: 'viewer',
    responses: { 200: { description: 'The counts. Nothing was sent.', body: recoveryCountSchema } },
  }) satisfies Partial<RouteOf<unknown>>

/** `failed`: counted as failed at the beginning and skipped, so that they do not use up the pace. */
interface Counted extends Pick<Recovery, 'found' | 'failed' | 'after' | 'until' | 'newest'> {
  /** The counts that a preview shows. */
  readonly shown: object
}

/** Counts the parked deliveries that a recovery would send, and those that have lost their body and cannot be sent again. */
export async function countParked(
  { parked, parkedCounts }: Pick<RecoveryRouteDeps, 'parked' | 'parkedCounts'>,
  subscriptionId: SubscriptionId,
  { selection, startedBy }: Pick<Recovery, 'selection' | 'startedBy'>,
) {
  // The recovery ends at the current end of the list: deliveries that it parks again come later.
  const newest = await parked.newest(subscriptionId)
  const { bodiesUntil } = await parkedCounts.count(subscriptionId)
  const range = { ...rangeOf(selection, newest), isFirstRun: startedBy !== undefined }
  const { until } = range
  const haveLost = Number(bodiesUntil) > Number(range.after)
  const after = haveLost ? bodiesUntil : range.after
  const lostUntil = String(Math.min(Number(bodiesUntil), Number(until)))
  const [found, lost] = await Promise.all([
    parked.count(subscriptionId, { ...range, after }),
    haveLost ? parked.count(subscriptionId, { ...range, until: lostUntil }) : { count: 0 },
  ])
  const shown = { ...found, withoutBody: lost.count }
  return { shown, found: found.count + lost.count, failed: lost.count, after, until, newest }
}

/** Begins a recovery, unless the subscription has one. */
export async function beginRecovery(
  deps: RecoveryRouteDeps,
  { caller, body, idFor }: RouteRequest<Pick<RecoveryRequest, 'maxPerSecond'>>,
  wanted: Pick<Recovery, 'subscriptionId' | 'kind' | 'selection'>,
  count: () => Promise<Counted>,
): Promise<Answer> {
  const { tenant } = caller
  const asked = {
    ...wanted,
    recoveryId: parseRecoveryId(idFor('recovery')),
    maxPerSecond: body.maxPerSecond ?? null,
  }
  // Before counting, because counting is expensive.
  const present = await deps.recoveries.begun(tenant, asked)
  if (present !== undefined) return accepted(deps, present, asked.recoveryId)
  const startedAtMs = deps.now()
  const { shown: _, ...counted } = await count()
  const recovery = newRecovery({ ...asked, ...counted }, startedAtMs)
  return accepted(deps, await deps.recoveries.begin(tenant, recovery), asked.recoveryId)
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
  viewOf(recovery, await parked.countAfter(recovery.subscriptionId, listEndAtStart(recovery)))

export function selectionOf({ from = null, to = null, reason = null, eventTypes = null }: RecoveryRequest): Selection {
  const { fromMs, toMs } = windowOf({ from, to })
  // Normalised to UTC, so that equal times compare as equal.
  return { from: momentOf(fromMs), to: momentOf(toMs), reason, ...(eventTypes !== null && { eventTypes }) }
}
