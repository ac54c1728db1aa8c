import {
  createDeliveryArchive,
  createDeliveryLogReader,
  createEventList,
  createTenantLog,
  createTenantParked,
} from '@switchhook/store'
import type { Base } from '../../base.ts'
import { feature } from '../../http/feature.ts'
import { createHealthOf } from '../subscriptions/endpoint-health.ts'
import { deliverEvent } from './deliver-route.ts'
import { listDeliveries, readDelivery, redeliverDelivery } from './delivery-routes.ts'
import { listEvents } from './event-list-route.ts'
import { explainEvent } from './explain-route.ts'
import { listTenantDeliveries } from './tenant-deliveries-route.ts'

export const deliveries = feature(
  [listDeliveries, readDelivery, redeliverDelivery, listTenantDeliveries, listEvents, explainEvent, deliverEvent],
  ({ redis, journal, subscriptions, publishDelivery, now }: Base) => ({
    deps: {
      subscriptions,
      deliveries: createDeliveryArchive(redis),
      deliveryLog: createDeliveryLogReader(redis),
      tenantLog: createTenantLog(redis),
      parked: createTenantParked(redis),
      events: createEventList(redis, journal),
      journal,
      healthOf: createHealthOf(redis),
      publish: publishDelivery,
      now,
    },
  }),
)
