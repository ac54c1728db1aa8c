import { setTimeout as wait } from 'node:timers/promises'
import { AppError } from '@switchhook/contracts'
import type { DeliveryArchive, DeliveryLogReader, PendingDelivery, SubscriptionStore } from '@switchhook/store'
import type { Route } from '../http/route.ts'
import { findSubscription, SUBSCRIPTIONS } from '../subscriptions/subscription-routes.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'
import { type DeliveryQuery, deliveryQuery, logQueryOf, parkedQueryOf } from './delivery-query.ts'
import { deliveryIdSchema, deliveryPageSchema, deliverySchema } from './delivery-schema.ts'
import { type DeliveryView, pendingViewOf, summaryOf, viewOf } from './delivery-view.ts'
import { createFindDelivery } from './find-delivery.ts'
import type { Redeliver } from './redeliver.ts'

export interface DeliveryRoutesDeps {
  /** For the 404 of a list: the http layer confirms the installation on every 404. */
  readonly subscriptions: Pick<SubscriptionStore, 'find'>
  /** For answers other than 404: confirms the installation before it resolves to undefined. */
  readonly findSubscription: SubscriptionStore['find']
  readonly deliveries: DeliveryArchive
  readonly deliveryLog: Pick<DeliveryLogReader, 'page' | 'pending'>
  readonly redeliver: Redeliver
  /** Milliseconds since 1970. */
  readonly now: () => number
}

const DELIVERY = '/api/v1/webhooks/deliveries/{deliveryId}'

const params = { deliveryId: deliveryIdSchema }

const FIRST_ATTEMPT = 'The first attempt of this delivery is not finished.'

export function createDeliveryRoutes({
  subscriptions,
  findSubscription: findVerified,
  deliveries,
  deliveryLog,
  redeliver,
  now,
}: DeliveryRoutesDeps): Route[] {
  const findDelivery = createFindDelivery({
    find: (deliveryId) => deliveries.find(deliveryId),
    findPending: (tenant, deliveryId) => deliveryLog.pending(tenant, deliveryId, now()),
    wait: (ms) => wait(ms),
  })

  /** Shows the subscription's current url, which the first attempt will use unless it changes before. */
  async function viewOfPending(delivery: PendingDelivery): Promise<DeliveryView> {
    const subscription = await findVerified(delivery.tenant, delivery.subscriptionId)
    return pendingViewOf(delivery, subscription?.url ?? null)
  }

  const list: Route<undefined, DeliveryQuery> = {
    method: 'get',
    path: `${SUBSCRIPTIONS}/{id}/deliveries`,
    operationId: 'listDeliveries',
    tag: 'deliveries',
    role: 'viewer',
    summary: 'List the deliveries of a subscription',
    description:
      'Lists deliveries, the newest first; by default only parked ones. Parked deliveries are listed for 30 days. Other states are listed for the latest ' +
      '1000 deliveries of the subscription, and acknowledged or withdrawn ones for 1 hour. (These numbers are defaults.) New deliveries do not shift the pages. One request ' +
      'searches a thousand entries, so a page can have fewer items than `limit`, or none, and still have a `nextCursor`.',
    params: { id: subscriptionIdSchema },
    query: deliveryQuery,
    responses: { 200: { description: 'A page of deliveries.', body: deliveryPageSchema } },
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
    role: 'viewer',
    summary: 'Read a delivery and its attempts',
    description:
      'Returns a delivery with all its attempts. Until its first attempt is finished it is `pending`, without attempts and envelope. ' +
      'A parked delivery is kept for 30 days, an acknowledged or withdrawn one for 1 hour (both are defaults). ' +
      'A 404 can take 0.2 s, because a new delivery may not be logged yet.',
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
    role: 'operator',
    summary: 'Send a delivery again',
    description:
      'Starts a new run of the schedule, to the current url of the subscription. The delivery id and body stay the same, and `X-SVC-Attempt` continues to count. ' +
      'The body of a delivery that is not parked comes from the journal (24 hours or the latest 20,000 events by default); without it, the answer is 409 `delivery-without-body`. ' +
      'A delivery that waits for its next attempt gets it now, and its schedule begins again. A delivery whose attempt is due now, or that another request is sending, answers 409 `delivery-not-parked`. ' +
      'Requests with the same `Idempotency-Key` send it once, even if it is parked again in between.',
    idempotent: true,
    audit: {
      action: 'delivery.redelivered',
      on: ({ made: { deliveryId, subscriptionId } }) => ({ deliveryId, subscriptionId }),
    },
    params,
    responses: { 202: { description: 'The delivery is due now.', body: deliverySchema } },
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
