import { AppError, coveredTypes, type Fault, isGuid, parseRecoveryId, type RecoveryId } from '@switchhook/contracts'
import type { PageQuery } from '@switchhook/store'
import { invalidBody } from '../../http/read-body.ts'
import { windowFault } from '../../http/read-range.ts'
import { acts, type RouteOf, type RouteRequest, type RouteSpec, reads } from '../../http/route.ts'
import { pageParameters, type Schema } from '../../http/schema.ts'
import { findSubscription, ofSubscription } from '../subscriptions/subscription-routes.ts'
import { beginRecovery, countRecovery, RECOVERIES, type RecoveryRouteDeps, view } from './begin-recovery.ts'
import type { Recovery, Selection } from './recovery.ts'
import {
  backfillRequestSchema,
  type RecoveryRequest,
  recoveryCountSchema,
  recoveryIdSchema,
  recoveryListSchema,
  recoveryPageSchema,
  recoveryRequestSchema,
  recoverySchema,
} from './recovery-schema.ts'

const params = { recoveryId: recoveryIdSchema }

type Texts = Pick<RouteSpec, 'operationId' | 'summary' | 'description'>

/** The route that begins a recovery of this kind, and the one that only counts what it would send. */
function routesOf(kind: Recovery['kind'], rest: string, body: Schema, begins: Texts, counts: Texts) {
  const journalOff = kind === 'backfill' ? (['journal-off'] as const) : []
  const common = {
    ...acts('deliveries'),
    isExpensive: true,
    body,
    validate: (asked: unknown, faults: readonly Fault[]) =>
      faults.length > 0 ? invalidBody(body, faults) : windowFault(asked as RecoveryRequest),
  } as const

  async function wanted(
    { caller, params: { id }, body: asked }: RouteRequest<RecoveryRequest>,
    deps: RecoveryRouteDeps,
  ) {
    const subscription = await findSubscription(deps.subscriptions, caller, id)
    if (kind === 'recovery') return { subscription, kind, selection: selectionOf(asked) }
    if (!deps.journal.isOn) throw new AppError('journal-off')
    // In a fixed order, so that equal requests compare as equal.
    const eventTypes = coveredTypes(asked.eventTypes ?? subscription.eventTypes)
    return { subscription, kind, selection: { ...selectionOf(asked), eventTypes } }
  }

  const begin: RouteOf<RecoveryRouteDeps, RecoveryRequest> = {
    ...common,
    ...ofSubscription(rest),
    ...begins,
    idempotent: true,
    audit: { action: `${kind}.started`, ids: ['subscriptionId', 'recoveryId'] },
    responses: {
      202: {
        description: `The ${kind} is running.`,
        body: recoverySchema,
        headers: { Location: { type: 'string', description: 'The path of the recovery.' } },
      },
    },
    failures: ['subscription-not-found', 'recovery-in-progress', ...journalOff],
    handle: async (request, deps) => beginRecovery(deps, request, await wanted(request, deps)),
  }
  const preview: RouteOf<RecoveryRouteDeps, RecoveryRequest> = {
    ...common,
    ...ofSubscription(`${rest}/preview`),
    ...counts,
    role: 'viewer',
    description: `Takes the body of \`…${rest}\` and sends nothing.`,
    responses: { 200: { description: 'The counts. Nothing was sent.', body: recoveryCountSchema } },
    failures: ['subscription-not-found', ...journalOff],
    async handle(request, deps) {
      const { subscription, ...asked } = await wanted(request, deps)
      return { status: 200, body: (await countRecovery(deps, subscription, { ...asked, startedBy: 'request' })).shown }
    },
  }
  return [begin, preview] as const
}

/** Times in UTC, so that equal ones compare as equal. */
const selectionOf = ({ from, to, reason = null, eventTypes = null }: RecoveryRequest): Selection => ({
  from: from == null ? null : new Date(from).toISOString(),
  to: to == null ? null : new Date(to).toISOString(),
  reason,
  eventTypes,
})

const [recover, previewRecovery] = routesOf(
  'recovery',
  '/recover',
  recoveryRequestSchema,
  {
    operationId: 'recover',
    summary: 'Send the parked deliveries of a subscription again',
    description:
      'Starts a recovery: sends the deliveries that are parked now, the oldest first, each as `redeliver` does. It begins with one delivery per second, ' +
      'doubles its rate every three seconds, and pauses while the endpoint is in a cool-down or slow to answer, or the subscription is disabled or paused. Deliveries ' +
      'that are parked again stay parked. `…/recover/preview` counts them first. One recovery of a subscription ' +
      'runs at a time: repeating its request returns it, and a different window, reason, type or pace answers 409 `recovery-in-progress`.',
  },
  { operationId: 'previewRecovery', summary: 'Count the deliveries that a recovery would send' },
)

const [backfill, previewBackfill] = routesOf(
  'backfill',
  '/backfill',
  backfillRequestSchema,
  {
    operationId: 'backfill',
    summary: 'Send earlier events to a subscription',
    description:
      'Sends the events of a window that did not go to the subscription, the oldest first, as new deliveries: because it was created later, was disabled, or did not ask ' +
      'for their types. Events that its filter refuses are not sent. The events come from the journal (the latest 20,000 of the tenant for 24 hours, by default). It runs as a recovery does: it begins with one delivery per second, ' +
      'doubles its rate every three seconds, pauses and can be cancelled, and one recovery or backfill of a subscription runs at a time. `…/backfill/preview` counts the events first. ' +
      'The delivery id is that of every delivery of the event to this subscription, so a receiver recognises an event that it has. ' +
      'The journal keeps the first 100 subscriptions of an event. If an event went to more, and this subscription existed then and is not among the 100, ' +
      'the event is counted as `unknown` and not sent.',
  },
  { operationId: 'previewBackfill', summary: 'Count the events that a backfill would send' },
)

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
    'Lists the newest 1,000 recoveries and backfills of the tenant, the newest first. An ended one is kept for seven days. A page can have fewer items than `limit` and still have a `nextCursor`.',
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
