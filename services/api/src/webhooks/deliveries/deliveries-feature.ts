import { feature } from '../../http/feature.ts'
import type { WebhookParts } from '../stores.ts'
import { deliverEvent } from './deliver-route.ts'
import type { SubjectDeps } from './delivery-query.ts'
import { listDeliveries, readDelivery, redeliverDelivery } from './delivery-routes.ts'
import { listEvents } from './event-list-route.ts'
import { explainEvent } from './explain-route.ts'
import { listTenantDeliveries } from './tenant-deliveries-route.ts'

export const deliveries = feature(
  [listDeliveries, readDelivery, redeliverDelivery, listTenantDeliveries, listEvents, explainEvent, deliverEvent],
  (parts: WebhookParts & SubjectDeps) => ({ deps: { ...parts, publish: parts.publishDelivery } }),
)
