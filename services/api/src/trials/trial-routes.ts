import { setTimeout as pause } from 'node:timers/promises'
import {
  AppError,
  type CheckFacts,
  type EventType,
  exampleDeliveryOf,
  newEventId,
  parseEventId,
  readCheckResult,
  type Subscription,
} from '@switchhook/contracts'
import type { Broker } from '@switchhook/messaging'
import type { CheckStore, DeliveryArchive, SubscriptionStore } from '@switchhook/store'
import { HeaderedError } from '../http/problem-handler.ts'
import type { Caller, Route } from '../http/route.ts'
import { findSubscription, SUBSCRIPTIONS } from '../subscriptions/subscription-routes.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'
import { judgeReceiver } from './receiver-report.ts'
import { receiverReportSchema, testDeliverySchema, trialSchema } from './trial-schema.ts'

export interface TrialRoutesDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'find'>
  readonly deliveries: Pick<DeliveryArchive, 'announce'>
  readonly publishDelivery: Broker['publishDelivery']
  readonly publishCheck: Broker['publishCheck']
  readonly checks: Pick<CheckStore, 'begin' | 'end' | 'find'>
  /** How long whoever asks for a check waits for it. */
  readonly checkTimeoutMs: number
}

interface Trial {
  readonly eventType?: EventType
}

const LOOK_EVERY_MS = 100
/** Of the lease beyond the time that is waited: the time that the broker may take for the request. */
const LEASE_SLACK_MS = 30_000
/** Of a tenant, at a time: fewer than a delivery worker has in hand, so that one tenant does not keep others from theirs. */
const MOST_CHECKS = 3
/** About what a check of an endpoint that is slow, but well, takes. */
const RETRY_AFTER_SECONDS = '5'

/** During an upgrade, workers may be newer than the api. */
const NOT_UNDERSTOOD =
  'A delivery worker of a newer version did the check, and this api does not understand its result. Try again after the upgrade.'

const params = { id: subscriptionIdSchema }

/** What a client can try before anything happens: that a delivery comes, and that its endpoint does as receivers must. */
export function createTrialRoutes(deps: TrialRoutesDeps): Route[] {
  /** A disabled one gets nothing, neither events nor examples. */
  async function findEnabled(caller: Caller, id: string | undefined): Promise<Subscription> {
    const subscription = await findSubscription(deps.subscriptions, caller, id)
    if (!subscription.enabled) throw new AppError('subscription-disabled')
    return subscription
  }

  /** @throws AppError for what keeps a check of this subscription from being begun */
  async function begin(subscription: Subscription): Promise<void> {
    const bounds = { leaseMs: deps.checkTimeoutMs + LEASE_SLACK_MS, most: MOST_CHECKS }
    const begun = await deps.checks.begin(subscription, bounds)
    if (begun === 'running') throw new AppError('check-running')
    if (begun === 'too-many') {
      const detail = `At most ${MOST_CHECKS} endpoints of a tenant are checked at a time`
      throw new HeaderedError('too-many-checks', { 'Retry-After': RETRY_AFTER_SECONDS }, { detail })
    }
  }

  async function factsOf(checkId: string, untilMs: number): Promise<CheckFacts> {
    while (Date.now() < untilMs) {
      const stored = await deps.checks.find(checkId)
      if (stored !== undefined) {
        const result = readCheckResult(stored)
        if (result === undefined) throw new AppError('check-unfinished', { detail: NOT_UNDERSTOOD })
        if ('refused' in result) throw new AppError(result.refused)
        return result
      }
      await pause(LOOK_EVERY_MS)
    }
    throw new AppError('check-unfinished')
  }

  const test: Route<Trial> = {
    method: 'post',
    path: `${SUBSCRIPTIONS}/{id}/test`,
    operationId: 'testSubscription',
    tag: 'subscriptions',
    summary: 'Send an example to the endpoint',
    description:
      'A well-formed delivery with ids of its own that goes the way of all others: signed, retried and parked alike. It is read ' +
      'by its id, and is in no list but that of the parked. In a cool-down it waits for its next slot, as all do. ' +
      'Its header `X-SVC-Test: true` says that nothing has happened.',
    idempotent: true,
    audit: {
      action: 'subscription.tested',
      on: ({ params, made }) => ({ subscriptionId: params['id'], deliveryId: made['deliveryId'] }),
    },
    params,
    body: trialSchema,
    isBodyOptional: true,
    responses: {
      202: { description: 'It is due now. Read the delivery to see what became of it.', body: testDeliverySchema },
    },
    failures: ['subscription-not-found', 'subscription-disabled'],
    async handle({ caller, params: { id }, body, idFor }) {
      const subscription = await findEnabled(caller, id)
      const eventType = typeOf(body, subscription)
      const eventId = parseEventId(idFor('event'))
      const delivery = exampleDeliveryOf({ eventId, eventType, trial: 'test', at: new Date() }, subscription)
      await deps.deliveries.announce(delivery)
      await deps.publishDelivery(delivery)
      return { status: 202, body: { deliveryId: delivery.deliveryId, eventId, eventType } }
    },
  }

  const check: Route<Trial> = {
    method: 'post',
    path: `${SUBSCRIPTIONS}/{id}/check`,
    operationId: 'checkReceiver',
    tag: 'subscriptions',
    summary: 'Check that the endpoint does what receivers must',
    description:
      'Sends a few examples, each once and with `X-SVC-Test: true`, and tells what its owner should fix: a delivery, the same ' +
      'one again, and, where deliveries are signed, a forged signature and a stale timestamp that it must refuse. Nothing of ' +
      "it is retried, parked or counted against the endpoint. It goes out in a cool-down as well, and does not end it. Answers after at most two of an attempt's deadlines. One check of a " +
      `subscription, and ${MOST_CHECKS} of a tenant, run at a time.`,
    audit: { action: 'subscription.checked', on: ({ params }) => ({ subscriptionId: params['id'] }) },
    params,
    body: trialSchema,
    isBodyOptional: true,
    responses: { 200: { description: 'What was seen.', body: receiverReportSchema } },
    failures: [
      'subscription-not-found',
      'subscription-disabled',
      'check-running',
      'secret-unavailable',
      'too-many-checks',
      'check-unfinished',
    ],
    async handle({ caller, params: { id }, body }) {
      const subscription = await findEnabled(caller, id)
      await begin(subscription)
      try {
        const checkId = newEventId()
        const untilMs = Date.now() + deps.checkTimeoutMs
        await deps.publishCheck({
          checkId,
          subscriptionId: subscription.id,
          tenant: subscription.tenant,
          eventType: typeOf(body, subscription),
          expiresAt: new Date(untilMs).toISOString(),
        })
        return { status: 200, body: judgeReceiver(await factsOf(checkId, untilMs)) }
      } finally {
        // Without Redis its lease ends it.
        await deps.checks.end(subscription).catch(() => undefined)
      }
    },
  }

  return [test, check]
}

/** A subscription has at least one type. */
const typeOf = ({ eventType }: Trial, { eventTypes }: Subscription): EventType =>
  eventType ?? eventTypes[0] ?? 'call.status'
