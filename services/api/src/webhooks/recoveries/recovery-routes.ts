import { AppError, isGuid, parseRecoveryId, type RecoveryId } from '@switchhook/contracts'
import type { PageQuery } from '@switchhook/store'
import type { Base } from '../../base.ts'
import { pageParameters } from '../../http/page-schema.ts'
import type { RouteOf } from '../../http/route.ts'
import { findSubscription, SUBSCRIPTIONS } from '../subscriptions/subscription-routes.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'
import { type BeginDeps, beginning, beginRecovery, RECOVERIES, selectionOf, view } from './begin-recovery.ts'
import { type CountDeps, countParked } from './count-parked.ts'
import {
  type RecoveryRequest,
  recoveryIdSchema,
  recoveryListSchema,
  recoveryPageSchema,
  recoveryRequestSchema,
  recoverySchema,
} from './recovery-schema.ts'

interface RecoveryRouteDeps extends BeginDeps, CountDeps, Pick<Base, 'subscriptions' | 'now'> {
  readonly parked: BeginDeps['parked'] & CountDeps['parked']
}

const params = { recoveryId: recoveryIdSchema }

export const recover: RouteOf<RecoveryRouteDeps, RecoveryRequest> = {
  ...beginning('recovery.started', 'The recovery is running.', recoveryRequestSchema),
  path: `${SUBSCRIPTIONS}/{id}/recover`,
  operationId: 'recover',
  summary: 'Send the parked deliveries of a subscription again',
  description:
    'Starts a recovery: sends the deliveries that are parked now, the oldest first, each as `redeliver` does. It begins with one delivery per second, ' +
    'doubles its rate every three seconds, and pauses while the endpoint is in a cool-down or slow to answer, or the subscription is disabled. Deliveries ' +
    'that are parked again stay parked. With `dryRun`, the answer is 200 with a count, and nothing is sent. One recovery of a subscription ' +
    'runs at a time: repeating its request returns it, and a different window, reason, type or pace answers 409 `recovery-in-progress`.',
  failures: ['subscription-not-found', 'recovery-in-progress'],
  async handle({ caller, params: { id }, body, idFor }, deps) {
    const { id: subscriptionId } = await findSubscription(deps.subscriptions, caller, id)
    const selection = selectionOf(body)
    const asked = {
      recoveryId: parseRecoveryId(idFor('recovery')),
      subscriptionId,
      selection,
      maxPerSecond: body.maxPerSecond ?? null,
    }
    return beginRecovery(deps, caller.tenant, asked, body, () => countParked(deps, subscriptionId, asked))
  },
}

export const listRecoveries: RouteOf<RecoveryRouteDeps> = {
  method: 'get',
  path: `${SUBSCRIPTIONS}/{id}/recoveries`,
  operationId: 'listRecoveries',
  tag: 'deliveries',
  role: 'viewer',
  summary: 'List the recoveries of a subscription',
  description: 'Lists the newest 50 recoveries. An ended recovery is kept for seven days.',
  params: { id: subscriptionIdSchema },
  responses: { 200: { description: 'The recoveries of the subscription.', body: recoveryListSchema } },
  failures: ['subscription-not-found'],
  async handle({ caller, params: { id } }, deps) {
    const subscription = await findSubscription(deps.subscriptions, caller, id)
    const found = await deps.recoveries.list(caller.tenant, subscription.id)
    return { status: 200, body: { items: await Promise.all(found.map((recovery) => view(deps, recovery))) } }
  },
}

export const listAllRecoveries: RouteOf<BeginDeps, undefined, PageQuery> = {
  method: 'get',
  path: RECOVERIES,
  operationId: 'listAllRecoveries',
  role: 'viewer',
  tag: 'deliveries',
  summary: 'List the recoveries of all subscriptions',
  description:
    'Lists the newest 200 recoveries and backfills of the tenant, the newest first. An ended one is kept for seven days. A page can have fewer items than `limit` and still have a `nextCursor`.',
  query: pageParameters,
  responses: { 200: { description: 'A page of recoveries.', body: recoveryPageSchema } },
  failures: [],
  async handle({ caller, query }, deps) {
    const { items, nextCursor } = await deps.recoveries.page(caller.tenant, query)
    const views = items.map((recovery) => view(deps, recovery))
    return { status: 200, body: { items: await Promise.all(views), nextCursor } }
  },
}

export const readRecovery: RouteOf<BeginDeps> = {
  method: 'get',
  path: `${RECOVERIES}/{recoveryId}`,
  operationId: 'readRecovery',
  tag: 'deliveries',
  role: 'viewer',
  summary: 'Read a recovery',
  description: 'Returns the state and the progress of a recovery. An ended recovery is kept for seven days.',
  params,
  responses: { 200: { description: 'The recovery.', body: recoverySchema } },
  failures: ['recovery-not-found'],
  async handle({ caller, params: { recoveryId } }, deps) {
    const recovery = await found(recoveryId, (id) => deps.recoveries.find(caller.tenant, id))
    return { status: 200, body: await view(deps, recovery) }
  },
}

export const cancelRecovery: RouteOf<BeginDeps> = {
  method: 'post',
  path: `${RECOVERIES}/{recoveryId}/cancel`,
  operationId: 'cancelRecovery',
  tag: 'deliveries',
  role: 'operator',
  summary: 'Cancel a recovery',
  description:
    'Stops a recovery. After the answer it sends nothing more, and the remaining deliveries stay parked. Deliveries that it has sent keep their ' +
    'schedule. Cancelling an ended recovery changes nothing.',
  idempotent: true,
  audit: {
    action: 'recovery.cancelled',
    on: ({ params, made }) => ({ recoveryId: params['recoveryId'], subscriptionId: made['subscriptionId'] }),
  },
  params,
  responses: { 200: { description: 'The ended recovery.', body: recoverySchema } },
  failures: ['recovery-not-found'],
  async handle({ caller, params: { recoveryId } }, deps) {
    const recovery = await found(recoveryId, (id) => deps.recoveries.cancel(caller.tenant, id))
    // A repeated cancellation is audited again: the process may have died after the first one and before its audit entry.
    return { status: 200, body: await view(deps, recovery), isUnchanged: recovery.cancelledBecause !== 'requested' }
  },
}

/** @throws AppError `recovery-not-found`, also for a malformed id and for a recovery of another tenant */
async function found<Found>(
  id: string | undefined,
  find: (id: RecoveryId) => Promise<Found | undefined>,
): Promise<Found> {
  const result = isGuid(id) ? await find(parseRecoveryId(id)) : undefined
  if (result === undefined) throw new AppError('recovery-not-found')
  return result
}
