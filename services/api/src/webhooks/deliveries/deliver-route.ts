import { AppError, DELIVERY_STATES, deliveryIdOf, isGuid, parseEventId } from '@switchhook/contracts'
import type { DeliveryRecord } from '@switchhook/store'
import { acts, type RouteOf } from '../../http/route.ts'
import { choice, completeComponent, completeObject, component, type ValueOf } from '../../http/schema.ts'
import { findSubscription } from '../subscriptions/subscription-routes.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'
import { deliveryIdSchema, eventIdSchema } from './delivery-schema.ts'
import { requestedDelivery } from './event-body.ts'
import { BUSY, type RedeliverDeps, redeliver } from './redeliver.ts'
import { sendAgain } from './send-again.ts'

const requestSchema = component('EventDeliveryRequest', {
  ...completeObject('The subscription that the event is sent to.', { subscriptionId: subscriptionIdSchema }),
  additionalProperties: false,
})

const answerSchema = completeComponent('EventDelivery', 'The delivery of an event to one subscription.', {
  deliveryId: deliveryIdSchema,
  eventId: eventIdSchema,
  subscriptionId: subscriptionIdSchema,
  state: choice(
    DELIVERY_STATES,
    'The state of the delivery, as `GET /webhooks/deliveries/{deliveryId}` shows it.',
    'pending',
  ),
})

export const deliverEvent: RouteOf<RedeliverDeps, ValueOf<typeof requestSchema>> = {
  ...acts('deliveries'),
  path: '/api/v1/webhooks/events/{eventId}/deliver',
  operationId: 'deliverEvent',
  summary: 'Send an event to a subscription',
  description:
    'Sends an event of the journal to an enabled subscription of the tenant, whether or not it asks for the event type or existed when the event occurred. ' +
    'The delivery id is that of every delivery of this event to this subscription, so a receiver recognises an event that it has. ' +
    'If the event was delivered there before, this is the same as `POST /webhooks/deliveries/{deliveryId}/redeliver`. ' +
    'The journal holds the latest 20,000 events for 24 hours (both are defaults).',
  idempotent: true,
  audit: { action: 'event.delivered', ids: ['eventId', 'deliveryId', 'subscriptionId'] },
  params: { eventId: eventIdSchema },
  body: requestSchema,
  responses: { 202: { description: 'The delivery is due now.', body: answerSchema } },
  failures: [
    'event-not-found',
    'subscription-not-found',
    'subscription-disabled',
    'subscription-deleted',
    'delivery-not-found',
    'delivery-not-parked',
    'delivery-without-body',
    'event-without-body',
    'journal-off',
  ],
  async handle({ caller, params: { eventId: asked }, body, idFor, isKeyed }, deps) {
    const { subscriptions, deliveries, journal, now } = deps
    if (!isGuid(asked)) throw new AppError('event-not-found')
    const eventId = parseEventId(asked)
    const subscription = await findSubscription(subscriptions, caller, body.subscriptionId, { beEnabled: true })
    const { id: subscriptionId } = subscription
    const deliveryId = deliveryIdOf(eventId, subscriptionId)
    const requestId = isKeyed ? idFor('delivery') : undefined
    const accepted = (state: DeliveryRecord['state']) => ({
      status: 202,
      body: { deliveryId, eventId, subscriptionId, state },
      ...(requestId !== undefined && { answered: () => deliveries.redeliveryAnswered(deliveryId, requestId) }),
    })

    const record = await deliveries.find(deliveryId)
    if (record !== undefined) return accepted((await redeliver(deps, record, requestId)).state)
    if (!journal.isOn) throw new AppError('journal-off')
    const entry = await journal.find(caller.tenant, eventId)
    if (entry === undefined) throw new AppError('event-not-found')
    const fresh = requestedDelivery(entry, subscription, now())
    if (fresh === undefined) throw new AppError('event-without-body')
    // Without a record, its first attempt is not over.
    const isRecent = await journal.recent(caller.tenant)
    if (
      isRecent(Date.parse(entry.fannedOutAt)) &&
      (await journal.recipients(entry))?.includes(subscriptionId) === true
    ) {
      throw new AppError('delivery-not-parked', { detail: 'The first attempt has not finished yet.' })
    }

    const by = { sender: requestId ?? idFor('sender'), parkedRun: 0, isRequest: requestId !== undefined }
    const sent = await sendAgain(deps, deliveryId, by, subscription, { which: 'new', body: fresh.body, fresh })
    if (sent.kind === 'busy') throw new AppError('delivery-not-parked', { detail: BUSY })
    // Unless it is `sent`, another request has sent it meanwhile.
    return accepted('pending')
  },
}
