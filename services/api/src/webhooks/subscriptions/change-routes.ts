import { AppError, distinctTypes, hasLimits, holdsDeliveries, type Subscription } from '@switchhook/contracts'
import { requireMatch } from '../../http/entity-tag.ts'
import type { RouteOf } from '../../http/route.ts'
import { watchUse } from './delete-unused.ts'
import { pauseWarnings, wantedSettings } from './optional-settings.ts'
import { mergedHeaders } from './own-headers.ts'
import { firstAttemptsStopped, stopsFirstAttempts } from './stop-first-attempts.ts'
import {
  findSubscription,
  ofSubscription,
  rereadLarge,
  type SubscriptionChange,
  type SubscriptionRouteDeps,
  subscriptionIdOf,
  withHealth,
} from './subscription-routes.ts'
import { etagHeader, subscriptionChangeSchema, subscriptionSchema } from './subscription-schema.ts'
import { answerWith, tagOf } from './subscription-view.ts'
import { INVALID_SUBSCRIPTION, requireMode, validateSubscription } from './validate-subscription.ts'

/** Has a worker visit what the subscription held before a change. If the api dies before, the next regular visit follows. */
async function askForVisit({ held, now }: SubscriptionRouteDeps, before: Subscription, isRerun = false): Promise<void> {
  if (!isRerun && !holdsDeliveries(before, now()) && !hasLimits(before)) return
  await held.visitSoon({ tenant: before.tenant, subscriptionId: before.id })
}

export const changeSubscription: RouteOf<SubscriptionRouteDeps, SubscriptionChange> = {
  method: 'patch',
  ...ofSubscription(),
  operationId: 'changeSubscription',
  tag: 'subscriptions',
  role: 'admin',
  summary: 'Change, disable or enable a subscription',
  description:
    'Changes the fields that you send. After the answer, no first attempt is sent to a disabled or paused subscription, for a removed event type, that the new filter refuses, or to ' +
    'the previous url, and none with previous headers, beyond new limits or older than a new `expireAfterSeconds`. A request that disables, pauses, removes event types, or sets `filter`, `headers`, `url`, a limit or an age therefore takes about 0.4 s; other changes are answered immediately. ' +
    'Deliveries that have already failed keep their schedule, url and body.',
  idempotent: true,
  conditional: true,
  audit: { action: 'subscription.changed', ids: ['subscriptionId'] },
  body: subscriptionChangeSchema,
  responses: {
    200: { description: 'The changed subscription.', body: subscriptionSchema, headers: { ETag: etagHeader } },
  },
  failures: ['subscription-not-found', ...INVALID_SUBSCRIPTION, 'external-id-taken'],
  validate: (body, faults, { urlRules }) => validateSubscription(body, faults, urlRules),
  async handle({ caller, params: { id }, body, ifMatch, isRerun }, deps) {
    const { url, eventTypes, description, headers, enabled } = body
    const subscriptionId = subscriptionIdOf(id)
    const settings = wantedSettings(body)
    if (settings.deleteAfterUnusedSeconds !== undefined) {
      const present = await findSubscription(deps.subscriptions, caller, id)
      requireMode(present, body)
      if (isRerun !== true) requireMatch(ifMatch, tagOf(present))
      await watchUse(deps.state, { ...present, ...settings }, deps.redisNow())
    }
    const wanted = {
      ...(url != null && { url }),
      ...(eventTypes != null && { eventTypes: distinctTypes(eventTypes) }),
      ...(description !== undefined && { description }),
      ...settings,
      ...(enabled !== undefined && { enabled }),
    }
    let before: Subscription | undefined
    const changed = await deps.subscriptions.revise(caller.tenant, subscriptionId, (present) => {
      before = present
      requireMode(present, body)
      const next = {
        ...present,
        ...wanted,
        ...((url ?? headers) !== undefined && { headers: mergedHeaders(deps.vault, present, body) }),
      }
      // An earlier run of the same request may have stored the change, and with it another tag.
      if (isRerun !== true || tagOf(next) !== tagOf(present)) requireMatch(ifMatch, tagOf(present))
      return next
    })
    if (before !== undefined) await askForVisit(deps, before, isRerun)
    // Rejections of a time at which the setting was off are not recovered.
    if (changed !== undefined && changed.recoverRejected !== before?.recoverRejected) {
      await deps.rejections.forget({ tenant: caller.tenant, subscriptionId })
    }
    if (stopsFirstAttempts({ ...wanted, headers }, before)) await firstAttemptsStopped(performance.now())
    if (changed === undefined) throw new AppError('subscription-not-found')
    // A repeated change is audited even if the fields have these values already: the process may have died after an
    // earlier request had stored them and before it was audited.
    return {
      status: 200,
      ...answerWith(await withHealth(deps, changed), pauseWarnings(settings, before?.pausedUntil, deps.now())),
      headers: { ETag: tagOf(changed) },
      isUnchanged: Object.keys(wanted).length === 0 && headers === undefined,
    }
  },
  reread: rereadLarge,
}

export const deleteSubscription: RouteOf<SubscriptionRouteDeps> = {
  method: 'delete',
  ...ofSubscription(),
  operationId: 'deleteSubscription',
  tag: 'subscriptions',
  role: 'admin',
  summary: 'Delete a subscription',
  description:
    'After the answer, no first attempt is sent. The answer therefore takes about 0.4 s. Deliveries that have already failed keep their schedule; ' +
    'to stop their retries, let your endpoint answer 410, which parks them. Those of a pull subscription are parked when they are due.',
  idempotent: true,
  conditional: true,
  audit: { action: 'subscription.deleted', ids: ['subscriptionId'] },
  responses: { 204: { description: 'The subscription was deleted.' } },
  failures: ['subscription-not-found'],
  async handle({ caller, params: { id }, ifMatch, isRerun }, deps) {
    let before: Subscription | undefined
    const removed = await deps.subscriptions.remove(caller.tenant, subscriptionIdOf(id), (present) => {
      requireMatch(ifMatch, tagOf(present))
      before = present
    })
    if (before !== undefined) {
      // The subscription is deleted, so the answer and the audit log say so; a worker visits it later.
      await askForVisit(deps, before).catch((error: unknown) =>
        deps.log.warn('could not check the held deliveries of a deleted subscription; a worker will', {
          subscriptionId: id,
          error,
        }),
      )
    }
    // Before a 404 too: a concurrent request may have just deleted the subscription and still be waiting here.
    await firstAttemptsStopped(performance.now())
    if (removed || isRerun === true) {
      await deps.subscriptions.removeLists(subscriptionIdOf(id)).catch((error: unknown) => {
        deps.log.warn('could not remove the lists of a deleted subscription; they expire', {
          subscriptionId: id,
          error,
        })
      })
    }
    // An earlier run of the same request may have deleted it.
    if (!removed && isRerun !== true) throw new AppError('subscription-not-found')
    return { status: 204 }
  },
}
