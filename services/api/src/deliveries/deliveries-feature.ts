import type { Broker } from '@switchhook/messaging'
import {
  createDeliveryArchive,
  createDeliveryLogReader,
  createEventList,
  createTenantLog,
  createTenantParked,
  type DeliveryArchive,
} from '@switchhook/store'
import type { Base, Feature } from '../feature.ts'
import type { Route } from '../http/route.ts'
import type { SubscriptionsFeature } from '../subscriptions/subscriptions-feature.ts'
import { createDeliverRoute, type DeliverRouteDeps } from './deliver-route.ts'
import { createDeliveryRoutes, type DeliveryRoutesDeps } from './delivery-routes.ts'
import { createBodyFromJournal } from './event-body.ts'
import { createEventListRoute, type EventListRouteDeps } from './event-list-route.ts'
import { createExplainEvent, type ExplainEventDeps } from './explain-event.ts'
import { createExplainRoute } from './explain-route.ts'
import { createRedeliver } from './redeliver.ts'
import { createSendAgain } from './send-again.ts'
import { createTenantDeliveriesRoute, type TenantDeliveriesRouteDeps } from './tenant-deliveries-route.ts'

export const deliveriesRoutes = (deps: {
  readonly delivery: DeliveryRoutesDeps
  readonly tenant: TenantDeliveriesRouteDeps
  readonly eventList: EventListRouteDeps
  readonly explain: ExplainEventDeps
  readonly deliver: DeliverRouteDeps
}): readonly Route[] => [
  ...createDeliveryRoutes(deps.delivery),
  createTenantDeliveriesRoute(deps.tenant),
  createEventListRoute(deps.eventList),
  createExplainRoute(createExplainEvent(deps.explain)),
  createDeliverRoute(deps.deliver),
]

export interface DeliveriesFeature extends Feature {
  readonly archive: DeliveryArchive
  /** Publishes a delivery in the trace of the current request. */
  readonly publish: Broker['publishDelivery']
}

export function createDeliveriesFeature(base: Base, subscriptions: SubscriptionsFeature): DeliveriesFeature {
  const { redis, journal, publishDelivery, traceOfRequest, now } = base
  const archive = createDeliveryArchive(redis)
  const deliveryLog = createDeliveryLogReader(redis)
  const publish: Broker['publishDelivery'] = (delivery) => {
    const traceparent = traceOfRequest()
    return publishDelivery({ ...delivery, ...(traceparent !== undefined && { traceparent }) })
  }
  const sendAgain = createSendAgain({ deliveries: archive, publish, now })
  const bodyFromJournal = createBodyFromJournal(journal)
  const redeliver = createRedeliver({
    findSubscription: ({ tenant, subscriptionId }) => subscriptions.store.find(tenant, subscriptionId),
    find: (deliveryId) => archive.find(deliveryId),
    note: (deliveryId, requestId, parkedRun) => archive.noteRedelivery(deliveryId, requestId, parkedRun),
    sendAgain,
    bodyFromJournal: ({ tenant, eventId, deliveryId }) => bodyFromJournal(tenant, eventId, deliveryId),
  })
  return {
    archive,
    publish,
    routes: deliveriesRoutes({
      delivery: {
        subscriptions: subscriptions.storeFor404,
        findSubscription: (tenant, id) => subscriptions.store.find(tenant, id),
        deliveries: archive,
        deliveryLog,
        redeliver,
        now,
      },
      tenant: {
        findSubscription: (tenant, id) => subscriptions.store.find(tenant, id),
        parked: createTenantParked(redis),
        deliveryLog,
        tenantLog: createTenantLog(redis),
      },
      eventList: { events: createEventList(redis, journal) },
      explain: {
        subscriptions: subscriptions.store,
        deliveries: archive,
        deliveryLog,
        journal,
        healthOf: subscriptions.healthOf,
      },
      deliver: {
        subscriptions: subscriptions.storeFor404,
        deliveries: archive,
        deliveryLog,
        journal,
        redeliver,
        sendAgain,
        now,
      },
    }),
  }
}
