import { AppError, EVENT_TYPES, parseRecoveryId } from '@switchhook/contracts'
import type { SubscriptionStore } from '@switchhook/store'
import { invalidBody } from '../http/read-body.ts'
import { windowFault } from '../http/read-range.ts'
import type { Answer, Route } from '../http/route.ts'
import { findSubscription, SUBSCRIPTIONS } from '../subscriptions/subscription-routes.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'
import type { BackfillWindow } from './backfill-window.ts'
import { newRecovery, type Recovery, rangeOf, type Selection } from './recovery.ts'
import type { RecoveryBook, RecoveryRequested } from './recovery-book.ts'
import { type BackfillRequest, backfillRequestSchema, recoveryCountSchema, recoverySchema } from './recovery-schema.ts'

export interface BackfillRouteDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'find'>
  readonly recoveries: Pick<RecoveryBook, 'begun' | 'begin'>
  readonly backfill: Pick<BackfillWindow, 'newest' | 'count'>
  readonly isJournalOn: boolean
  readonly selectionOf: (body: BackfillRequest) => Selection
  /** The 202 of a recovery. */
  readonly answer: (recovery: Recovery, asked: RecoveryRequested) => Promise<Answer>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

export function createBackfillRoute(deps: BackfillRouteDeps): Route<BackfillRequest> {
  const { subscriptions, recoveries, backfill, isJournalOn, selectionOf, answer, now } = deps
  return {
    method: 'post',
    path: `${SUBSCRIPTIONS}/{id}/backfill`,
    operationId: 'backfill',
    tag: 'deliveries',
    role: 'operator',
    summary: 'Send earlier events to a subscription',
    description:
      'Sends the events of a window that did not go to the subscription, the oldest first, as new deliveries: because it was created later, was disabled, or did not ask ' +
      'for their types. The events come from the journal (the latest 20,000 of the tenant for 24 hours, by default). It runs as a recovery does: it begins with one delivery per second, ' +
      'speeds up, pauses and can be cancelled, and one recovery or backfill of a subscription runs at a time. With `dryRun`, the answer is 200 with a count, and nothing is sent. ' +
      'The delivery id is that of every delivery of the event to this subscription, so a receiver recognises an event that it has.',
    idempotent: true,
    audit: {
      action: 'backfill.started',
      on: ({ params, made }) => ({ subscriptionId: params['id'], recoveryId: made['recoveryId'] }),
    },
    params: { id: subscriptionIdSchema },
    body: backfillRequestSchema,
    validate: (body, faults) =>
      faults.length > 0 ? invalidBody(backfillRequestSchema, faults) : windowFault(body as BackfillRequest),
    responses: {
      200: { description: 'The counts of a dry run.', body: recoveryCountSchema },
      202: {
        description: 'The backfill is running.',
        body: recoverySchema,
        headers: { Location: { type: 'string', description: 'The path of the recovery.' } },
      },
    },
    failures: ['subscription-not-found', 'recovery-in-progress', 'journal-off'],
    async handle({ caller, params: { id }, body, idFor }) {
      const { tenant } = caller
      const subscription = await findSubscription(subscriptions, caller, id)
      if (!isJournalOn) throw new AppError('journal-off')
      const { id: subscriptionId } = subscription
      const asked = body.eventTypes ?? subscription.eventTypes
      // In a fixed order, so that equal requests compare as equal.
      const eventTypes = EVENT_TYPES.filter((type) => asked.includes(type))
      const request = {
        recoveryId: parseRecoveryId(idFor('recovery')),
        subscriptionId,
        kind: 'backfill' as const,
        selection: { ...selectionOf(body), eventTypes },
        maxPerSecond: body.maxPerSecond ?? null,
      }
      const present = body.dryRun === true ? undefined : await recoveries.begun(tenant, request)
      if (present !== undefined) return answer(present, request)
      const startedAtMs = now()
      const { after, until } = rangeOf(request.selection, await backfill.newest(tenant))
      const { withoutBody, ...found } = await backfill.count({ tenant, subscriptionId }, { after, until, eventTypes })
      if (body.dryRun === true) {
        return { status: 200, body: { dryRun: true, ...found, withoutBody }, isUnchanged: true }
      }
      // Events without data are counted as failed here and skipped, so that they do not use up the pace.
      const counts = { found: found.count + withoutBody, failed: withoutBody }
      const recovery = newRecovery({ ...request, ...counts, after, until }, startedAtMs)
      return answer(await recoveries.begin(tenant, recovery), request)
    },
  }
}
