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
import { createDeliveryRoutes, type DeliveryRoutesDeps } from './delivery-routes.ts'
import { createEventListRoute, type EventListRouteDeps } from './event-list-route.ts'
import { createExplainRoute, type ExplainRouteDeps } from './explain-route.ts'
import { createTenantDeliveriesRoute, type TenantDeliveriesRouteDeps } from './tenant-deliveries-route.ts'

export const deliveriesRoutes = (deps: {
  readonly delivery: DeliveryRoutesDeps
  readonly tenant: TenantDeliveriesRouteDeps
  readonly eventList: EventListRouteDeps
  readonly explain: ExplainRouteDeps
}): readonly Route[] => [
  ...createDeliveryRoutes(deps.delivery),
  createTenantDeliveriesRoute(deps.tenant),
  createEventListRoute(deps.eventList),
  createExplainRoute(deps.explain),
]

export interface DeliveriesFeature extends Feature {
  readonly archive: DeliveryArchive
  /** Publishes a delivery in the trace of the current request. */
  readonly publish: Broker['publishDelivery']
}

export function createDeliveriesFeature(base: Base, subscriptions: SubscriptionsFeature): DeliveriesFeature {
  const { redis, publishDelivery, traceOfRequest, now } = base
  const archive = createDeliveryArchive(redis)
  const deliveryLog = createDeliveryLogReader(redis)
  const publish: Broker['publishDelivery'] = (delivery) => {
    const traceparent = traceOfRequest()
    return publishDelivery({ ...delivery, ...(traceparent !== undefined && { traceparent }) })
  }
  return {
    archive,
    publish,
    routes: deliveriesRoutes({
      delivery: {
        subscriptions: subscriptions.storeFor404,
        findSubscription: (tenant, id) => subscriptions.store.find(tenant, id),
        deliveries: archive,
        deliveryLog,
        publishDelivery: publish,
        now,
      },
      tenant: {
        findSubscription: (tenant, id) => subscriptions.store.find(tenant, id),
        parked: createTenantParked(redis),
        deliveryLog,
        tenantLog: createTenantLog(redis),
      },
      eventList: { events: createEventList(redis) },
      explain: {
        subscriptions: subscriptions.store,
        deliveries: archive,
        deliveryLog,
        healthOf: subscriptions.healthOf,
      },
    }),
  }
}
