import { AppError, isGuid, parseRecoveryId, type RecoveryId } from '@switchhook/contracts'
import type { ParkedCounter, ParkedWindow, SubscriptionStore } from '@switchhook/store'
import { pageParameters } from '../http/page-schema.ts'
import { invalidBody } from '../http/read-body.ts'
import { windowFault, windowOf } from '../http/read-range.ts'
import type { Answer, Route } from '../http/route.ts'
import { findSubscription, SUBSCRIPTIONS } from '../subscriptions/subscription-routes.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'
import { createBackfillRoute } from './backfill-route.ts'
import type { BackfillWindow } from './backfill-window.ts'
import { listEndAtStart, newRecovery, type Recovery, rangeOf, type Selection, splitAtBodies } from './recovery.ts'
import type { RecoveryBook, RecoveryRequested } from './recovery-book.ts'
import {
  type RecoveryRequest,
  type RecoveryView,
  recoveryCountSchema,
  recoveryIdSchema,
  recoveryListSchema,
  recoveryPageSchema,
  recoveryRequestSchema,
  recoverySchema,
  viewOf,
} from './recovery-schema.ts'

export interface RecoveryRouteDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'find'>
  readonly recoveries: RecoveryBook
  readonly parked: Pick<ParkedWindow, 'newest' | 'count' | 'countAfter'>
  readonly parkedCount: ParkedCounter['count']
  readonly backfill: Pick<BackfillWindow, 'newest' | 'count'>
  readonly isJournalOn: boolean
  /** Milliseconds since 1970. */
  readonly now: () => number
}

interface RecoveryQuery {
  readonly limit: number
  readonly cursor?: string
}

const RECOVERIES = '/api/v1/webhooks/recoveries'

const params = { recoveryId: recoveryIdSchema }

export function createRecoveryRoutes({
  subscriptions,
  recoveries,
  parked,
  parkedCount,
  backfill,
  isJournalOn,
  now,
}: RecoveryRouteDeps): Route[] {
  const count = shareCounts((subscriptionId, range) => parked.count(subscriptionId, range))

  const view = async (recovery: Recovery): Promise<RecoveryView> =>
    viewOf(recovery, await parked.countAfter(recovery.subscriptionId, listEndAtStart(recovery)))

  const answer = async (recovery: Recovery, asked: RecoveryRequested): Promise<Answer> => ({
    status: 202,
    body: await view(recovery),
    headers: { Location: `${RECOVERIES}/${recovery.recoveryId}` },
    // A request that is repeated after a crash finds the recovery that it began itself, and is audited.
    isUnchanged: recovery.recoveryId !== asked.recoveryId,
  })

  const begin: Route<RecoveryRequest> = {
    method: 'post',
    path: `${SUBSCRIPTIONS}/{id}/recover`,
    operationId: 'recover',
    tag: 'deliveries',
    role: 'operator',
    summary: 'Send the parked deliveries of a subscription again',
    description:
      'Starts a recovery: sends the deliveries that are parked now, the oldest first, each as `redeliver` does. It begins with one delivery per second, ' +
      'speeds up while the endpoint acknowledges, and pauses while the endpoint is in a cool-down or the subscription is disabled. Deliveries ' +
      'that are parked again stay parked. With `dryRun`, the answer is 200 with a count, and nothing is sent. One recovery of a subscription ' +
      'runs at a time: repeating its request returns it, and a different window, reason, type or pace answers 409 `recovery-in-progress`.',
    idempotent: true,
    audit: {
      action: 'recovery.started',
      on: ({ params, made }) => ({ subscriptionId: params['id'], recoveryId: made['recoveryId'] }),
    },
    params: { id: subscriptionIdSchema },
    body: recoveryRequestSchema,
    validate: (body, faults) =>
      faults.length > 0 ? invalidBody(recoveryRequestSchema, faults) : windowFault(body as RecoveryRequest),
    responses: {
      200: { description: 'The counts of a dry run.', body: recoveryCountSchema },
      202: {
        description: 'The recovery is running.',
        body: recoverySchema,
        headers: { Location: { type: 'string', description: 'The path of the recovery.' } },
      },
    },
    failures: ['subscription-not-found', 'recovery-in-progress'],
    async handle({ caller, params: { id }, body, idFor }) {
      const subscription = await findSubscription(subscriptions, caller, id)
      const selection = selectionOf(body)
      const recoveryId = parseRecoveryId(idFor('recovery'))
      const maxPerSecond = body.maxPerSecond ?? null
      const request = { recoveryId, subscriptionId: subscription.id, selection, maxPerSecond }
      // Before counting, because counting is expensive.
      const present = body.dryRun === true ? undefined : await recoveries.begun(caller.tenant, request)
      if (present !== undefined) return answer(present, request)
      const startedAtMs = now()
      // The recovery ends at the current end of the list: deliveries that it parks again come later.
      const newest = await parked.newest(subscription.id)
      const range = rangeOf(selection, newest)
      const { bodiesUntil } = await parkedCount(subscription.id)
      const { withBody, withoutBody } = splitAtBodies(range, bodiesUntil)
      const [found, lost] = await Promise.all([
        count(subscription.id, withBody),
        withoutBody === undefined ? { count: 0 } : count(subscription.id, withoutBody),
      ])
      if (body.dryRun === true) {
        const answered = { dryRun: true, ...found, withoutBody: lost.count }
        return { status: 200, body: answered, isUnchanged: true }
      }
      const { after, until } = withBody
      // Deliveries without a body are counted as failed here and skipped, so that they do not use up the pace.
      const counts = { found: found.count + lost.count, failed: lost.count }
      const recovery = newRecovery({ ...request, ...counts, after, until, newest }, startedAtMs)
      return answer(await recoveries.begin(caller.tenant, recovery), request)
    },
  }

  const list: Route = {
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
    async handle({ caller, params: { id } }) {
      const subscription = await findSubscription(subscriptions, caller, id)
      const found = await recoveries.list(caller.tenant, subscription.id)
      return { status: 200, body: { items: await Promise.all(found.map(view)) } }
    },
  }

  const listAll: Route<undefined, RecoveryQuery> = {
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
    async handle({ caller, query }) {
      const { items, nextCursor } = await recoveries.page(caller.tenant, query)
      return { status: 200, body: { items: await Promise.all(items.map(view)), nextCursor } }
    },
  }

  const read: Route = {
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
    async handle({ caller, params: { recoveryId } }) {
      return { status: 200, body: await view(await found(recoveryId, (id) => recoveries.find(caller.tenant, id))) }
    },
  }

  const cancel: Route = {
    method: 'post',
    path: `${RECOVERIES}/{recoveryId}/cancel`,
    operationId: 'cancelRecovery',
    tag: 'deliveries',
    role: 'operator',
    summary: 'Cancel a recovery',
    description:
      'Stops a recovery. After the answer it sends nothing more, and the remaining deliveries stay parked. Deliveries that it has sent keep their ' +
      'schedule. Cancelling an ended recovery changes nothing.',
    audit: {
      action: 'recovery.cancelled',
      on: ({ params, made }) => ({ recoveryId: params['recoveryId'], subscriptionId: made['subscriptionId'] }),
    },
    params,
    responses: { 200: { description: 'The ended recovery.', body: recoverySchema } },
    failures: ['recovery-not-found'],
    async handle({ caller, params: { recoveryId } }) {
      const recovery = await found(recoveryId, (id) => recoveries.cancel(caller.tenant, id))
      // A repeated cancellation is audited again: the process may have died after the first one and before its audit entry.
      return { status: 200, body: await view(recovery), isUnchanged: recovery.cancelledBecause !== 'requested' }
    },
  }

  const beginBackfill = createBackfillRoute({
    subscriptions,
    recoveries,
    backfill,
    isJournalOn,
    selectionOf,
    answer,
    now,
  })

  return [begin, beginBackfill, list, listAll, read, cancel]
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

function selectionOf({ from = null, to = null, reason = null, eventTypes = null }: RecoveryRequest): Selection {
  const { fromMs, toMs } = windowOf({ from, to })
  return { from: toIso(fromMs), to: toIso(toMs), reason, ...(eventTypes !== null && { eventTypes }) }
}

/** Normalised to UTC, so that equal times compare as equal. */
const toIso = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString())

type Count = ParkedWindow['count']

/** Counting reads every record of the range, so concurrent requests for the same range share one count. */
export function shareCounts(count: Count): Count {
  const inProgress = new Map<string, ReturnType<Count>>()
  return (subscriptionId, range) => {
    const key = JSON.stringify([subscriptionId, range.after, range.until, range.reason, range.eventTypes ?? null])
    const present = inProgress.get(key)
    if (present !== undefined) return present
    const counting = count(subscriptionId, range).finally(() => inProgress.delete(key))
    inProgress.set(key, counting)
    return counting
  }
}
