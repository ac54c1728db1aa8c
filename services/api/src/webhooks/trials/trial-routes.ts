import { setTimeout as pause } from 'node:timers/promises'
import {
  ALL_TYPES,
  AppError,
  type CheckFacts,
  EVENT_TYPES,
  type EventType,
  exampleDeliveryOf,
  newEventId,
  parseEventId,
  readCheckResult,
  type Subscription,
} from '@switchhook/contracts'
import { feature } from '../../http/feature.ts'
import { retryAfter } from '../../http/headered-error.ts'
import { acts, type RouteOf } from '../../http/route.ts'
import { completeComponent, component, type ValueOf } from '../../http/schema.ts'
import { deliveryIdSchema, eventIdSchema } from '../deliveries/delivery-schema.ts'
import type { WebhookParts } from '../stores.ts'
import { findSubscription, ofSubscription } from '../subscriptions/subscription-routes.ts'
import { createReceiverReport, receiverReportSchema } from './receiver-report.ts'

const eventType = { type: 'string', enum: EVENT_TYPES, examples: ['call.status'] } as const

const trialSchema = component('Trial', {
  type: 'object',
  description: 'Options of a test or check. Unknown fields are ignored; the body can be `{}` or missing.',
  properties: {
    eventType: {
      ...eventType,
      description: 'The event type of the example. Defaults to the first event type of the subscription.',
    },
  },
  examples: [{ eventType: 'call.status' }, {}],
})

const testDeliverySchema = completeComponent('TestDelivery', 'A test delivery that is due now.', {
  deliveryId: deliveryIdSchema,
  eventId: eventIdSchema,
  eventType: { ...eventType, description: 'The event type, sent as `X-SVC-Event`.' },
})

type TrialRouteDeps = Pick<
  WebhookParts,
  'config' | 'subscriptions' | 'publishDelivery' | 'broker' | 'deliveries' | 'checks' | 'redisNow'
>

type TrialBody = ValueOf<typeof trialSchema>

const POLL_EVERY_MS = 100
/** The lease outlives the wait by this much: the time that the broker may take to accept the request. */
const LEASE_SLACK_MS = 30_000
/** Concurrent checks of a tenant: fewer than one worker runs, so that one tenant cannot block the checks of others. */
const MAX_CHECKS = 3
/** About the duration of a check of a slow but healthy endpoint. */
const RETRY_AFTER_SECONDS = 5

/** During an upgrade, a worker may be newer than the api. */
const NOT_UNDERSTOOD =
  'A delivery worker of a newer version ran the check, and this api does not understand the result. Retry after the upgrade.'

async function factsOf(checks: TrialRouteDeps['checks'], checkId: string, untilMs: number): Promise<CheckFacts> {
  while (performance.now() < untilMs) {
    const stored = await checks.take(checkId)
    if (stored !== undefined) {
      const result = readCheckResult(stored)
      if (result === undefined) throw new AppError('check-unfinished', { detail: NOT_UNDERSTOOD })
      if ('refused' in result) throw new AppError(result.refused)
      return result
    }
    await pause(POLL_EVERY_MS)
  }
  throw new AppError('check-unfinished')
}

const testSubscription: RouteOf<TrialRouteDeps, TrialBody> = {
  ...acts('subscriptions'),
  ...ofSubscription('/test'),
  operationId: 'testSubscription',
  summary: 'Send a test delivery',
  description:
    'Sends an example event to the endpoint. It is signed, retried and parked like any delivery, waits during a cool-down, and carries ' +
    '`X-SVC-Test: true`. Read it by its `deliveryId`; lists show it only if it is parked.',
  idempotent: true,
  audit: { action: 'subscription.tested', ids: ['subscriptionId', 'deliveryId'] },
  body: trialSchema,
  isBodyOptional: true,
  responses: {
    202: { description: 'The test delivery is due now. Read it to see its result.', body: testDeliverySchema },
  },
  failures: ['subscription-not-found', 'subscription-disabled'],
  async handle({ caller, params: { id }, body, idFor }, deps) {
    const subscription = await findSubscription(deps.subscriptions, caller, id, { beEnabled: true })
    const eventType = typeOf(body, subscription)
    const eventId = parseEventId(idFor('event'))
    const delivery = exampleDeliveryOf({ eventId, eventType, trial: 'test', at: new Date() }, subscription)
    await deps.deliveries.announce(delivery)
    await deps.publishDelivery(delivery)
    return { status: 202, body: { deliveryId: delivery.deliveryId, eventId, eventType } }
  },
}

const checkReceiver: RouteOf<TrialRouteDeps, TrialBody> = {
  ...acts('subscriptions'),
  ...ofSubscription('/check'),
  operationId: 'checkReceiver',
  summary: 'Check the endpoint',
  description:
    'Checks that the endpoint meets the obligations of a receiver, and reports what to fix. Sends an example delivery, a duplicate of it on the same connection and, ' +
    'if deliveries are signed, one with a forged signature and one with a stale timestamp, which the endpoint must reject. Each carries `X-SVC-Test: true`. ' +
    'Nothing is retried, parked or counted as a failure. A check ignores a cool-down and does not end it, but keeps the limits of the subscription. The answer takes at most twice the timeout of an ' +
    `attempt (10 s by default), plus the waits for its limits. One check of a subscription and ${MAX_CHECKS} of a tenant can run at the same time. An \`Idempotency-Key\` is rejected: each request runs a new check.`,
  audit: { action: 'subscription.checked', ids: ['subscriptionId'] },
  body: trialSchema,
  isBodyOptional: true,
  waits: true,
  responses: { 200: { description: 'The report.', body: receiverReportSchema } },
  failures: [
    'subscription-not-found',
    'subscription-disabled',
    'subscription-pull',
    'check-running',
    'secret-unavailable',
    'too-many-checks',
    'check-unfinished',
  ],
  async handle({ caller, params: { id }, body }, deps) {
    const subscription = await findSubscription(deps.subscriptions, caller, id, { beEnabled: true })
    if (subscription.mode === 'pull') throw new AppError('subscription-pull')
    const leaseMs = deps.config.RECEIVER_CHECK_TIMEOUT + LEASE_SLACK_MS
    const begun = await deps.checks.begin(subscription, { leaseMs, most: MAX_CHECKS })
    if (begun === 'running') throw new AppError('check-running')
    if (begun === 'too-many') {
      const detail = `At most ${MAX_CHECKS} checks of a tenant run at the same time.`
      throw retryAfter('too-many-checks', RETRY_AFTER_SECONDS, detail)
    }
    try {
      const checkId = newEventId()
      const untilMs = performance.now() + deps.config.RECEIVER_CHECK_TIMEOUT
      await deps.broker.publishCheck({
        checkId,
        subscriptionId: subscription.id,
        tenant: subscription.tenant,
        eventType: typeOf(body, subscription),
        // Workers compare it with Redis's clock.
        expiresAt: new Date(deps.redisNow() + deps.config.RECEIVER_CHECK_TIMEOUT).toISOString(),
      })
      return { status: 200, body: createReceiverReport(await factsOf(deps.checks, checkId, untilMs)) }
    } finally {
      // If Redis is away, the lease of the check expires.
      await deps.checks.end(subscription).catch(() => undefined)
    }
  },
}

/** The fallback is never used: a subscription has at least one type. */
const typeOf = ({ eventType }: TrialBody, { eventTypes }: Subscription): EventType =>
  eventType ?? eventTypes.find((type) => type !== ALL_TYPES) ?? 'call.status'

/** The trials of a subscription. They are sent without any event; a disabled subscription receives none either. */
export const trials = feature([testSubscription, checkReceiver], (parts: WebhookParts) => ({ deps: parts }))
