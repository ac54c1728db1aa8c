import { AppError, isGuid, parseRecoveryId, type RecoveryId } from '@switchhook/contracts'
import type { ParkedCounter, ParkedWindow, SubscriptionStore } from '@switchhook/store'
import { invalidBody } from '../http/read-body.ts'
import { windowFault, windowOf } from '../http/read-range.ts'
import type { Answer, Route } from '../http/route.ts'
import { findSubscription, SUBSCRIPTIONS } from '../subscriptions/subscription-routes.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'
import { beginningOf, newRecovery, type Recovery, rangeOf, type Selection, splitAtBodies } from './recovery.ts'
import type { RecoveryBook, RecoveryRequested } from './recovery-book.ts'
import {
  type RecoveryRequest,
  type RecoveryView,
  recoveryCountSchema,
  recoveryIdSchema,
  recoveryListSchema,
  recoveryRequestSchema,
  recoverySchema,
  viewOf,
} from './recovery-schema.ts'
import { shareCounts } from './share-counts.ts'

export interface RecoveryRouteDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'find'>
  readonly recoveries: RecoveryBook
  readonly parked: Pick<ParkedWindow, 'newest' | 'count' | 'countAfter'>
  readonly parkedCount: ParkedCounter['count']
  /** Milliseconds since 1970. */
  readonly now: () => number
}

const RECOVERIES = '/api/v1/webhooks/recoveries'

const params = { recoveryId: recoveryIdSchema }

export function createRecoveryRoutes({
  subscriptions,
  recoveries,
  parked,
  parkedCount,
  now,
}: RecoveryRouteDeps): Route[] {
  const count = shareCounts((subscriptionId, range) => parked.count(subscriptionId, range))

  const view = async (recovery: Recovery): Promise<RecoveryView> =>
    viewOf(recovery, await parked.countAfter(recovery.subscriptionId, beginningOf(recovery)))

  const answer = async (recovery: Recovery, asked: RecoveryRequested): Promise<Answer> => ({
    status: 202,
    body: await view(recovery),
    headers: { Location: `${RECOVERIES}/${recovery.recoveryId}` },
    // A request that is carried out again after a crash finds the one that it has begun itself.
    isUnchanged: recovery.recoveryId !== asked.recoveryId,
  })

  const begin: Route<RecoveryRequest> = {
    method: 'post',
    path: `${SUBSCRIPTIONS}/{id}/recover`,
    operationId: 'recover',
    tag: 'deliveries',
    summary: 'Send the parked deliveries of a subscription again',
    description:
      'Sends what is parked now, the oldest first, each as by `redeliver`: gently at first, faster while the endpoint ' +
      'acknowledges, and not at all while it is in its cool-down or the subscription is disabled. What is parked again meanwhile ' +
      'stays parked. While a recovery of the subscription runs, the same request answers that one, and another window, reason or pace is ' +
      'refused. With `dryRun`, 200 and a count.',
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
      200: { description: 'The count of a dry run.', body: recoveryCountSchema },
      202: {
        description: 'It runs.',
        body: recoverySchema,
        headers: { Location: { type: 'string', description: 'Where to see how far it is.' } },
      },
    },
    failures: ['subscription-not-found', 'recovery-in-progress'],
    async handle({ caller, params: { id }, body, idFor }) {
      const subscription = await findSubscription(subscriptions, caller, id)
      const selection = selectionOf(body)
      const recoveryId = parseRecoveryId(idFor('recovery'))
      const maxPerSecond = body.maxPerSecond ?? null
      const request = { recoveryId, subscriptionId: subscription.id, selection, maxPerSecond }
      // Before counting, which is what costs.
      const present = body.dryRun === true ? undefined : await recoveries.begun(caller.tenant, request)
      if (present !== undefined) return answer(present, request)
      const startedAtMs = now()
      // Where the list ends now is where the recovery ends: what it parks again itself comes later.
      const newest = await parked.newest(subscription.id)
      const range = rangeOf(selection, newest)
      const { bodiesUntil } = await parkedCount(subscription.id)
      const { whole, withoutBody } = splitAtBodies(range, bodiesUntil)
      const [found, lost] = await Promise.all([
        count(subscription.id, whole),
        withoutBody === undefined ? { count: 0 } : count(subscription.id, withoutBody),
      ])
      if (body.dryRun === true) {
        const answered = { dryRun: true, ...found, withoutBody: lost.count }
        return { status: 200, body: answered, isUnchanged: true }
      }
      const { after, until } = whole
      // Those without a body are counted here and passed over, so that they do not use up the pace.
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
    summary: 'List the recoveries of a subscription',
    description: 'The newest 50. One that has ended is remembered for seven days.',
    params: { id: subscriptionIdSchema },
    responses: { 200: { description: 'The recoveries.', body: recoveryListSchema } },
    failures: ['subscription-not-found'],
    async handle({ caller, params: { id } }) {
      const subscription = await findSubscription(subscriptions, caller, id)
      const found = await recoveries.list(caller.tenant, subscription.id)
      return { status: 200, body: { items: await Promise.all(found.map(view)) } }
    },
  }

  const read: Route = {
    method: 'get',
    path: `${RECOVERIES}/{recoveryId}`,
    operationId: 'readRecovery',
    tag: 'deliveries',
    summary: 'Read how far a recovery is',
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
    summary: 'Cancel a recovery',
    description:
      'Nothing more is sent again after the answer; the rest stays parked. What was sent before keeps its schedule. One that ' +
      'has ended stays as it is.',
    audit: {
      action: 'recovery.cancelled',
      on: ({ params, made }) => ({ recoveryId: params['recoveryId'], subscriptionId: made['subscriptionId'] }),
    },
    params,
    responses: { 200: { description: 'The recovery as it ended.', body: recoverySchema } },
    failures: ['recovery-not-found'],
    async handle({ caller, params: { recoveryId } }) {
      const recovery = await found(recoveryId, (id) => recoveries.cancel(caller.tenant, id))
      // Asked for again is entered again: the request before may have died after it had cancelled.
      return { status: 200, body: await view(recovery), isUnchanged: recovery.cancelledBecause !== 'requested' }
    },
  }

  return [begin, list, read, cancel]
}

/** Another tenant's recovery does not exist, and neither does one by a malformed id. */
async function found<Found>(
  id: string | undefined,
  find: (id: RecoveryId) => Promise<Found | undefined>,
): Promise<Found> {
  const result = isGuid(id) ? await find(parseRecoveryId(id)) : undefined
  if (result === undefined) throw new AppError('recovery-not-found')
  return result
}

function selectionOf({ from = null, to = null, reason = null }: RecoveryRequest): Selection {
  const { fromMs, toMs } = windowOf({ from, to })
  return { from: toIso(fromMs), to: toIso(toMs), reason }
}

/** One text for one moment, in UTC. */
const toIso = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString())
