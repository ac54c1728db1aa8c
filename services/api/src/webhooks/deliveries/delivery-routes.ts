import { type Envelope, parseDeliveryId, parseEventId, parseExactly } from '@switchhook/contracts'
import { acts, type RouteOf, reads, searches } from '../../http/route.ts'
import { findSubscription, ofSubscription } from '../subscriptions/subscription-routes.ts'
import { type DeliveryQuery, deliveryQuery } from './delivery-query.ts'
import { deliveryIdSchema, deliveryPageSchema, deliverySchema, viewOf } from './delivery-schema.ts'
import { bodyFromJournal } from './event-body.ts'
import { type FindDeliveryDeps, findDelivery } from './find-delivery.ts'
import { type RedeliverDeps, redeliver } from './redeliver.ts'
import { type DeliveryListDeps, listWanted } from './tenant-deliveries-route.ts'

type DeliveryRouteDeps = RedeliverDeps & FindDeliveryDeps

const ofDelivery = (rest = '') => ({
  path: `/api/v1/webhooks/deliveries/{deliveryId}${rest}`,
  params: { deliveryId: deliveryIdSchema },
})

export const listDeliveries: RouteOf<DeliveryListDeps, undefined, DeliveryQuery> = {
  ...searches('deliveries'),
  ...ofSubscription('/deliveries'),
  operationId: 'listDeliveries',
  summary: 'List the deliveries of a subscription',
  description:
    'Lists deliveries, the newest first; by default only parked ones. Parked deliveries are listed for 30 days. Other states are listed for the latest ' +
    '1000 deliveries of the subscription, and acknowledged or withdrawn ones for 1 hour. (These numbers are defaults.) New deliveries do not shift the pages. A page ' +
    'ends after a search of a thousand entries, so it can have fewer items than `limit` and still have a `nextCursor`.',
  query: deliveryQuery,
  responses: { 200: { description: 'A page of deliveries.', body: deliveryPageSchema } },
  failures: ['subscription-not-found'],
  async handle({ caller, params: { id }, query }, deps) {
    const { id: subscriptionId } = await findSubscription(deps.subscriptions, caller, id)
    return listWanted(deps, caller.tenant, { ...query, subscriptionId })
  },
}

export const readDelivery: RouteOf<DeliveryRouteDeps> = {
  ...reads('deliveries'),
  ...ofDelivery(),
  operationId: 'readDelivery',
  summary: 'Read a delivery and its attempts',
  description:
    'Returns a delivery with all its attempts. Until its first attempt is finished it is `pending`, without attempts and envelope. ' +
    'A parked delivery is kept for 30 days, an acknowledged or withdrawn one for 1 hour (both are defaults). ' +
    'A 404 can take 0.2 s, because a new delivery may not be logged yet.',
  responses: { 200: { description: 'The delivery.', body: deliverySchema } },
  failures: ['delivery-not-found'],
  async handle({ caller, params: { deliveryId } }, deps) {
    return { status: 200, body: viewOf(await findDelivery(deps, caller.tenant, deliveryId)) }
  },
}

export const redeliverDelivery: RouteOf<DeliveryRouteDeps> = {
  ...acts('deliveries'),
  ...ofDelivery('/redeliver'),
  operationId: 'redeliver',
  summary: 'Send a delivery again',
  description:
    'Starts a new run of the schedule, to the current url of the subscription. The delivery id and body stay the same, and `X-SVC-Attempt` continues to count. ' +
    'The body of a delivery that is not parked comes from the journal (24 hours or the latest 20,000 events by default); without it, the answer is 409 `delivery-without-body`. ' +
    'A delivery that waits for its next attempt gets it now, and its schedule begins again. A delivery whose attempt is due now, that a client has leased, or that another request is sending answers 409 `delivery-not-parked`. ' +
    'Requests with the same `Idempotency-Key` send it once, even if it is parked again in between. Once the record of the delivery has expired, ' +
    'a replayed answer has no attempts, and its envelope comes from the journal or is null.',
  idempotent: true,
  audit: { action: 'delivery.redelivered', ids: ['deliveryId', 'subscriptionId'] },
  responses: { 202: { description: 'The delivery is due now.', body: deliverySchema } },
  failures: [
    'delivery-not-found',
    'delivery-not-parked',
    'delivery-without-body',
    'subscription-disabled',
    'subscription-deleted',
  ],
  async handle({ caller, params: { deliveryId }, idFor, isKeyed }, deps) {
    const requestId = isKeyed ? idFor('redelivery') : undefined
    const found = await findDelivery(deps, caller.tenant, deliveryId)
    const { attempts, envelope, ...view } = viewOf(await redeliver(deps, found, requestId))
    // An envelope can have 256 KB, the attempts 16 KB.
    return {
      status: 202,
      body: { ...view, attempts: [], envelope: null },
      large: { attempts, envelope },
      ...(requestId !== undefined && {
        answered: () => deps.deliveries.redeliveryAnswered(found.deliveryId, requestId),
      }),
    }
  },
  /** The attempts of earlier runs, as in the first answer. Without the record, only the journal can have the envelope. */
  async reread({ tenant }, body, { deliveries, journal }) {
    const { deliveryId: id, eventId, run } = body as ReturnType<typeof viewOf>
    const deliveryId = parseDeliveryId(id)
    const record = await deliveries.find(deliveryId)
    if (record === undefined || record.tenant !== tenant) {
      const journaled = await bodyFromJournal(journal, { tenant, eventId: parseEventId(eventId), deliveryId })
      return journaled === undefined ? {} : { envelope: parseExactly(journaled.toString()) as Envelope }
    }
    const { attempts, envelope } = viewOf(record)
    return { attempts: attempts.filter((attempt) => attempt.run < run), envelope }
  },
}
