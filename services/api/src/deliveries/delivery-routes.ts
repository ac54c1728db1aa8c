import { AppError, isGuid, parseDeliveryId } from '@switchhook/contracts'
import type { Broker } from '@switchhook/messaging'
import type { DeliveryArchive, DeliveryLogReader, DeliveryRecord, SubscriptionStore } from '@switchhook/store'
import type { Caller, Route } from '../http/route.ts'
import { findSubscription, SUBSCRIPTIONS } from '../subscriptions/subscription-routes.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'
import { type DeliveryQuery, deliveryQuery, logQueryOf, parkedQueryOf } from './delivery-query.ts'
import { deliveryIdSchema, deliveryPageSchema, deliverySchema, summaryOf, viewOf } from './delivery-schema.ts'
import { createRedeliver } from './redeliver.ts'

export interface DeliveryRoutesDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'find'>
  readonly deliveries: DeliveryArchive
  readonly deliveryLog: Pick<DeliveryLogReader, 'page'>
  readonly publishDelivery: Broker['publishDelivery']
}

const DELIVERY = '/api/v1/webhooks/deliveries/{deliveryId}'

const params = { deliveryId: deliveryIdSchema }

export function createDeliveryRoutes({
  subscriptions,
  deliveries,
  deliveryLog,
  publishDelivery,
}: DeliveryRoutesDeps): Route[] {
  const redeliver = createRedeliver({
    findSubscription: ({ tenant, subscriptionId }) => subscriptions.find(tenant, subscriptionId),
    find: (deliveryId) => deliveries.find(deliveryId),
    note: (deliveryId, requestId, parkedRun) => deliveries.noteRedelivery(deliveryId, requestId, parkedRun),
    begin: (deliveryId, by) => deliveries.beginRedelivery(deliveryId, by),
    abandon: (deliveryId, by) => deliveries.abandonRedelivery(deliveryId, by),
    markSent: (record) => deliveries.redeliverySent(record),
    publish: (delivery) => publishDelivery(delivery),
    now: () => new Date(),
  })

  /** Another tenant's delivery does not exist, and neither does one by a malformed id. */
  async function findDelivery({ tenant }: Caller, id: string | undefined): Promise<DeliveryRecord> {
    const found = isGuid(id) ? await deliveries.find(parseDeliveryId(id)) : undefined
    if (found === undefined || found.tenant !== tenant) throw new AppError('delivery-not-found')
    return found
  }

  const list: Route<undefined, DeliveryQuery> = {
    method: 'get',
    path: `${SUBSCRIPTIONS}/{id}/deliveries`,
    operationId: 'listDeliveries',
    tag: 'deliveries',
    summary: 'List the deliveries of a subscription',
    description:
      'The newest first; deliveries that come while you read do not shift the pages that follow. A search looks through a thousand ' +
      'entries at a time, so a page may hold fewer than asked for, or none, and have a `nextCursor` all the same. The list holds the latest deliveries ' +
      '(1000 by default) that are still remembered: acknowledged ones for a while (1 hour by default). Parked ones are in a list of ' +
      'their own, which is kept for long (30 days by default) and holds them all.',
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
    summary: 'Read one delivery with its attempts',
    description:
      'A parked delivery is kept for long (30 days by default), an acknowledged or withdrawn one for a while (1 hour by default). A delivery is found ' +
      'here once its first turn is over: an attempt was made, or it was put off (by a cool-down, for example), or it was withdrawn. Until then it is ' +
      '`pending` in the list of its subscription, and 404 here; a test alone is found from the beginning.',
    params,
    responses: { 200: { description: 'The delivery.', body: deliverySchema } },
    failures: ['delivery-not-found'],
    async handle({ caller, params: { deliveryId } }) {
      return { status: 200, body: viewOf(await findDelivery(caller, deliveryId)) }
    },
  }

  const sendAgain: Route = {
    method: 'post',
    path: `${DELIVERY}/redeliver`,
    operationId: 'redeliver',
    tag: 'deliveries',
    summary: 'Send a parked delivery again',
    description:
      'Starts the schedule anew, to the url that the subscription has now, with the same delivery id and body; the count of ' +
      'attempts goes on. Under an `Idempotency-Key` it is sent once, even if it was parked again before the request was repeated.',
    idempotent: true,
    audit: {
      action: 'delivery.redelivered',
      on: ({ made: { deliveryId, subscriptionId } }) => ({ deliveryId, subscriptionId }),
    },
    params,
    responses: { 202: { description: 'It is due now.', body: deliverySchema } },
    failures: [
      'delivery-not-found',
      'delivery-not-parked',
      'delivery-without-body',
      'subscription-disabled',
      'subscription-deleted',
    ],
    async handle({ caller, params: { deliveryId }, idFor, isKeyed }) {
      const requestId = isKeyed ? idFor('redelivery') : undefined
      return { status: 202, body: viewOf(await redeliver(await findDelivery(caller, deliveryId), requestId)) }
    },
  }

  return [list, read, sendAgain]
}
