import { setTimeout as wait } from 'node:timers/promises'
import { AppError } from '@switchhook/contracts'
import type { Broker } from '@switchhook/messaging'
import type { DeliveryArchive, DeliveryLogReader, PendingDelivery, SubscriptionStore } from '@switchhook/store'
import type { Route } from '../http/route.ts'
import { findSubscription, SUBSCRIPTIONS } from '../subscriptions/subscription-routes.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'
import { type DeliveryQuery, deliveryQuery, logQueryOf, parkedQueryOf } from './delivery-query.ts'
import {
  type DeliveryView,
  deliveryIdSchema,
  deliveryPageSchema,
  deliverySchema,
  pendingViewOf,
  summaryOf,
  viewOf,
} from './delivery-schema.ts'
import { createFindDelivery } from './find-delivery.ts'
import { createRedeliver } from './redeliver.ts'
import { createSendAgain } from './send-again.ts'

export interface DeliveryRoutesDeps {
  /** For the 404 of a list: the http layer confirms the installation on every 404. */
  readonly subscriptions: Pick<SubscriptionStore, 'find'>
  /** For answers other than 404: confirms the installation before it resolves to undefined. */
  readonly findSubscription: SubscriptionStore['find']
  readonly deliveries: DeliveryArchive
  readonly deliveryLog: Pick<DeliveryLogReader, 'page' | 'pending'>
  readonly publishDelivery: Broker['publishDelivery']
  /** Milliseconds since 1970. */
  readonly now: () => number
}

const DELIVERY = '/api/v1/webhooks/deliveries/{deliveryId}'

const params = { deliveryId: deliveryIdSchema }

const FIRST_ATTEMPT = 'The first attempt of this delivery is not over'

export function createDeliveryRoutes({
  subscriptions,
  findSubscription: findVerified,
  deliveries,
  deliveryLog,
  publishDelivery,
  now,
}: DeliveryRoutesDeps): Route[] {
  const redeliver = createRedeliver({
    findSubscription: ({ tenant, subscriptionId }) => findVerified(tenant, subscriptionId),
    find: (deliveryId) => deliveries.find(deliveryId),
    note: (deliveryId, requestId, parkedRun) => deliveries.noteRedelivery(deliveryId, requestId, parkedRun),
    sendAgain: createSendAgain({ deliveries, publish: publishDelivery, now }),
  })

  const findDelivery = createFindDelivery({
    find: (deliveryId) => deliveries.find(deliveryId),
    findPending: (tenant, deliveryId) => deliveryLog.pending(tenant, deliveryId, now()),
    wait: (ms) => wait(ms),
  })

  /** The url is the one that the first attempt will use: the url of the subscription at that time. */
  async function viewOfPending(delivery: PendingDelivery): Promise<DeliveryView> {
    const subscription = await findVerified(delivery.tenant, delivery.subscriptionId)
    return pendingViewOf(delivery, subscription?.url ?? null)
  }

  const list: Route<undefined, DeliveryQuery> = {
    method: 'get',
    path: `${SUBSCRIPTIONS}/{id}/deliveries`,
    operationId: 'listDeliveries',
    tag: 'deliveries',
    summary: 'List the deliveries of a subscription',
    description:
      'The newest first. New deliveries do not move others to another page. One request searches a thousand entries, so a page can have fewer items than ' +
      '`limit`, or none, and still have a `nextCursor`. The list holds the latest 1000 deliveries; an acknowledged or withdrawn one is kept for 1 hour. ' +
      'Parked deliveries have a list of their own, which holds all of them for 30 days. These numbers are defaults.',
    params: { id: subscriptionIdSchema },
    query: deliveryQuery,
    responses: { 200: { description: 'A page.', body: deliveryPageSchema } },
    failures: ['subscription-not-found'],
    async handle({ caller, params: { id }, query }) {
      const subscription = await findSubscription(subscriptions, caller, id)
      const { items, nextCursor } =
        query.state === 'parked'
          ? await deliveries.parked(subscription.id, parkedQueryOf(query))
          : await deliveryLog.page(subscription, logQueryOf(query))
      return { status: 200, body: { items: items.map(summaryOf), nextCursor } }
    },
  }

  const read: Route = {
    method: 'get',
    path: DELIVERY,
    operationId: 'readDelivery',
    tag: 'deliveries',
    summary: 'Read a delivery and its attempts',
    description:
      'A delivery is found from when its event is fanned out. It is `pending`, without attempts and without an envelope, until its first attempt ' +
      'is over. A parked delivery is kept for 30 days by default, an acknowledged or withdrawn one for 1 hour. ' +
      'A 404 can take 0.2 s, because fan-out may not have logged a new delivery yet.',
    params,
    responses: { 200: { description: 'The delivery.', body: deliverySchema } },
    failures: ['delivery-not-found'],
    async handle({ caller, params: { deliveryId } }) {
      const found = await findDelivery(caller.tenant, deliveryId)
      return {
        status: 200,
        body: found.kind === 'recorded' ? viewOf(found.record) : await viewOfPending(found.delivery),
      }
    },
  }

  const sendAgain: Route = {
    method: 'post',
    path: `${DELIVERY}/redeliver`,
    operationId: 'redeliver',
    tag: 'deliveries',
    summary: 'Send a parked delivery again',
    description:
      'Starts the schedule again, to the present url of the subscription, with the same delivery id and body; `X-SVC-Attempt` continues to count. ' +
      'The answer is the delivery after the broker has taken it. A delivery that is not parked is answered 409 `delivery-not-parked`, also while another request ' +
      'sends it. A repeated request with the same `Idempotency-Key` sends it once, even if it was parked again in between.',
    idempotent: true,
    audit: {
      action: 'delivery.redelivered',
      on: ({ made: { deliveryId, subscriptionId } }) => ({ deliveryId, subscriptionId }),
    },
    params,
    responses: { 202: { description: 'Accepted: the delivery is due now.', body: deliverySchema } },
    failures: [
      'delivery-not-found',
      'delivery-not-parked',
      'delivery-without-body',
      'subscription-disabled',
      'subscription-deleted',
    ],
    async handle({ caller, params: { deliveryId }, idFor, isKeyed }) {
      const requestId = isKeyed ? idFor('redelivery') : undefined
      const found = await findDelivery(caller.tenant, deliveryId)
      if (found.kind === 'pending') throw new AppError('delivery-not-parked', { detail: FIRST_ATTEMPT })
      return { status: 202, body: viewOf(await redeliver(found.record, requestId)) }
    },
  }

  return [list, read, sendAgain]
}
