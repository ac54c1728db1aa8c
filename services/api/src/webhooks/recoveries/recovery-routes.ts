import { AppError, coveredTypes, isGuid, parseRecoveryId, type RecoveryId } from '@switchhook/contracts'
import type { PageQuery } from '@switchhook/store'
import { acts, type RouteOf, type RouteRequest, reads } from '../../http/route.ts'
import { pageParameters } from '../../http/schema.ts'
import { findSubscription, ofSubscription } from '../subscriptions/subscription-routes.ts'
import {
  beginning,
  beginRecovery,
  counting,
  preview,
  RECOVERIES,
  type RecoveryRouteDeps,
  selectionOf,
  view,
  type WantedRecovery,
} from './begin-recovery.ts'
import {
  type BackfillRequest,
  backfillRequestSchema,
  type RecoveryRequest,
  recoveryIdSchema,
  recoveryListSchema,
  recoveryPageSchema,
  recoveryRequestSchema,
  recoverySchema,
} from './recovery-schema.ts'

const params = { recoveryId: recoveryIdSchema }

export const recover: RouteOf<RecoveryRouteDeps, RecoveryRequest> = {
  ...beginning('recovery.started', 'The recovery is running.', recoveryRequestSchema),
  ...ofSubscription('/recover'),
  operationId: 'recover',
  summary: 'Send the parked deliveries of a subscription again',
  description:
    'Starts a recovery: sends the deliveries that are parked now, the oldest first, each as `redeliver` does. It begins with one delivery per second, ' +
    'doubles its rate every three seconds, and pauses while the endpoint is in a cool-down or slow to answer, or the subscription is disabled or paused. Deliveries ' +
    'that are parked again stay parked. `…/recover/preview` counts them first. One recovery of a subscription ' +
    'runs at a time: repeating its request returns it, and a different window, reason, type or pace answers 409 `recovery-in-progress`.',
  failures: ['subscription-not-found', 'recovery-in-progress'],
  handle: async (request, deps) => beginRecovery(deps, request, await wantedRecovery(request, deps)),
}

async function wantedRecovery(
  { caller, params: { id }, body }: RouteRequest<RecoveryRequest>,
  deps: RecoveryRouteDeps,
): Promise<WantedRecovery> {
  const subscription = await findSubscription(deps.subscriptions, caller, id)
  return { subscription, kind: 'recovery', selection: selectionOf(body) }
}

const previewRecovery: RouteOf<RecoveryRouteDeps, RecoveryRequest> = {
  ...counting(recoveryRequestSchema),
  ...ofSubscription('/recover/preview'),
  operationId: 'previewRecovery',
  summary: 'Count the deliveries that a recovery would send',
  description: 'Takes the body of `…/recover` and sends nothing.',
  failures: ['subscription-not-found'],
  handle: async (request, deps) => preview(deps, await wantedRecovery(request, deps)),
}

const backfill: RouteOf<RecoveryRouteDeps, BackfillRequest> = {
  ...beginning('backfill.started', 'The backfill is running.', backfillRequestSchema),
  ...ofSubscription('/backfill'),
  operationId: 'backfill',
  summary: 'Send earlier events to a subscription',
  description:
    'Sends the events of a window that did not go to the subscription, the oldest first, as new deliveries: because it was created later, was disabled, or did not ask ' +
    'for their types. Events that its filter refuses are not sent. The events come from the journal (the latest 20,000 of the tenant for 24 hours, by default). It runs as a recovery does: it begins with one delivery per second, ' +
    'doubles its rate every three seconds, pauses and can be cancelled, and one recovery or backfill of a subscription runs at a time. `…/backfill/preview` counts the events first. ' +
    'The delivery id is that of every delivery of the event to this subscription, so a receiver recognises an event that it has. ' +
    'The journal keeps the first 100 subscriptions of an event. If an event went to more, and this subscription existed then and is not among the 100, ' +
    'the event is counted as `unknown` and not sent.',
  failures: ['subscription-not-found', 'recovery-in-progress', 'journal-off'],
  handle: async (request, deps) => beginRecovery(deps, request, await wantedBackfill(request, deps)),
}

async function wantedBackfill(
  { caller, params: { id }, body }: RouteRequest<BackfillRequest>,
  deps: RecoveryRouteDeps,
): Promise<WantedRecovery> {
  const subscription = await findSubscription(deps.subscriptions, caller, id)
  if (!deps.journal.isOn) throw new AppError('journal-off')
  // In a fixed order, so that equal requests compare as equal.
  const eventTypes = coveredTypes(body.eventTypes ?? subscription.eventTypes)
  return { subscription, kind: 'backfill', selection: { ...selectionOf(body), eventTypes } }
}

const previewBackfill: RouteOf<RecoveryRouteDeps, BackfillRequest> = {
  ...counting(backfillRequestSchema),
  ...ofSubscription('/backfill/preview'),
  operationId: 'previewBackfill',
  summary: 'Count the events that a backfill would send',
  description: 'Takes the body of `…/backfill` and sends nothing.',
  failures: ['subscription-not-found', 'journal-off'],
  handle: async (request, deps) => preview(deps, await wantedBackfill(request, deps)),
}

const listRecoveries: RouteOf<RecoveryRouteDeps> = {
  ...reads('deliveries'),
  ...ofSubscription('/recoveries'),
  operationId: 'listRecoveries',
  summary: 'List the recoveries of a subscription',
  description: 'Lists the newest 50 recoveries. An ended recovery is kept for seven days.',
  responses: { 200: { description: 'The recoveries of the subscription.', body: recoveryListSchema } },
  failures: ['subscription-not-found'],
  async handle({ caller, params: { id } }, deps) {
    const subscription = await findSubscription(deps.subscriptions, caller, id)
    const found = await deps.recoveries.list(caller.tenant, subscription.id)
    return { status: 200, body: { items: await Promise.all(found.map((recovery) => view(deps, recovery))) } }
  },
}

const listAllRecoveries: RouteOf<RecoveryRouteDeps, undefined, PageQuery> = {
  ...reads('deliveries'),
  path: RECOVERIES,
  operationId: 'listAllRecoveries',
  summary: 'List the recoveries of all subscriptions',
  description:
    'Lists the newest 200 recoveries and backfills of the tenant, the newest first. An ended one is kept for seven days. A page can have fewer items than `limit` and still have a `nextCursor`.',
  query: pageParameters,
  responses: { 200: { description: 'A page of recoveries.', body: recoveryPageSchema } },
  async handle({ caller, query }, deps) {
    const { items, nextCursor } = await deps.recoveries.page(caller.tenant, query)
    const views = items.map((recovery) => view(deps, recovery))
    return { status: 200, body: { items: await Promise.all(views), nextCursor } }
  },
}

const readRecovery: RouteOf<RecoveryRouteDeps> = {
  ...reads('deliveries'),
  path: `${RECOVERIES}/{recoveryId}`,
  operationId: 'readRecovery',
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

const cancelRecovery: RouteOf<RecoveryRouteDeps> = {
  ...acts('deliveries'),
  path: `${RECOVERIES}/{recoveryId}/cancel`,
  operationId: 'cancelRecovery',
  summary: 'Cancel a recovery',
  description:
    'Stops a recovery. After the answer it sends nothing more, and the remaining deliveries stay parked. Deliveries that it has sent keep their ' +
    'schedule. Cancelling an ended recovery changes nothing.',
  idempotent: true,
  audit: { action: 'recovery.cancelled', ids: ['recoveryId', 'subscriptionId'] },
  params,
  responses: { 200: { description: 'The ended recovery.', body: recoverySchema } },
  failures: ['recovery-not-found'],
  async handle({ caller, params: { recoveryId } }, deps) {
    const recovery = await found(recoveryId, (id) => deps.recoveries.cancel(caller.tenant, id))
    // A repeated cancellation is audited again: the process may have died after the first one and before its audit entry.
    return { status: 200, body: await view(deps, recovery), isUnchanged: recovery.cancelledBecause !== 'requested' }
  },
}

export const recoveryRoutes = [
  recover,
  previewRecovery,
  backfill,
  previewBackfill,
  listRecoveries,
  listAllRecoveries,
  readRecovery,
  cancelRecovery,
]

/** @throws AppError `recovery-not-found`, also for a malformed id and for a recovery of another tenant */
async function found<Found>(
  id: string | undefined,
  find: (id: RecoveryId) => Promise<Found | undefined>,
): Promise<Found> {
  const result = isGuid(id) ? await find(parseRecoveryId(id)) : undefined
  if (result === undefined) throw new AppError('recovery-not-found')
  return result
}
