import { AppError, parseRecoveryId } from '@switchhook/contracts'
import type { Base } from '../../base.ts'
import type { RouteOf } from '../../http/route.ts'
import { coveredTypes } from '../subscriptions/subscribed-types.ts'
import { findSubscription, SUBSCRIPTIONS } from '../subscriptions/subscription-routes.ts'
import type { BackfillWindow } from './backfill-window.ts'
import { type BeginDeps, beginning, beginRecovery, selectionOf } from './begin-recovery.ts'
import { rangeOf } from './recovery.ts'
import { type BackfillRequest, backfillRequestSchema } from './recovery-schema.ts'

interface BackfillRouteDeps extends BeginDeps, Pick<Base, 'subscriptions' | 'journal' | 'now'> {
  readonly backfill: BackfillWindow
}

export const backfill: RouteOf<BackfillRouteDeps, BackfillRequest> = {
  ...beginning('backfill.started', 'The backfill is running.', backfillRequestSchema),
  path: `${SUBSCRIPTIONS}/{id}/backfill`,
  operationId: 'backfill',
  summary: 'Send earlier events to a subscription',
  description:
    'Sends the events of a window that did not go to the subscription, the oldest first, as new deliveries: because it was created later, was disabled, or did not ask ' +
    'for their types. Events that its filter refuses are not sent. The events come from the journal (the latest 20,000 of the tenant for 24 hours, by default). It runs as a recovery does: it begins with one delivery per second, ' +
    'doubles its rate every three seconds, pauses and can be cancelled, and one recovery or backfill of a subscription runs at a time. With `dryRun`, the answer is 200 with a count, and nothing is sent. ' +
    'The delivery id is that of every delivery of the event to this subscription, so a receiver recognises an event that it has. ' +
    'The journal keeps the first 100 subscriptions of an event. If an event went to more, and this subscription existed then and is not among the 100, ' +
    'the event is counted as `unknown` and not sent.',
  failures: ['subscription-not-found', 'recovery-in-progress', 'journal-off'],
  async handle({ caller: { tenant }, caller, params: { id }, body, idFor }, deps) {
    const subscription = await findSubscription(deps.subscriptions, caller, id)
    if (!deps.journal.isOn) throw new AppError('journal-off')
    // In a fixed order, so that equal requests compare as equal.
    const eventTypes = coveredTypes(body.eventTypes ?? subscription.eventTypes)
    const asked = {
      recoveryId: parseRecoveryId(idFor('recovery')),
      subscriptionId: subscription.id,
      kind: 'backfill' as const,
      selection: { ...selectionOf(body), eventTypes },
      maxPerSecond: body.maxPerSecond ?? null,
    }
    return beginRecovery(deps, tenant, asked, body, async () => {
      const { after, until } = rangeOf(asked.selection, await deps.backfill.newest(tenant))
      const shown = await deps.backfill.count(subscription, { after, until, eventTypes })
      return { shown, found: shown.count + shown.withoutBody, failed: shown.withoutBody, after, until }
    })
  },
}
