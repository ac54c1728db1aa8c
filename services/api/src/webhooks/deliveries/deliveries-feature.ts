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
import { createBodyFromJournal } from './event-body.ts'
import { listEvents } from './event-list-route.ts'
import { explainEvent } from './explain-route.ts'
import { publishInTrace } from './publish-in-trace.ts'
import { createRedeliver, type RedeliverDeps } from './redeliver.ts'
import { createSendAgain } from './send-again.ts'
import { listTenantDeliveries } from './tenant-deliveries-route.ts'

export const deliveries = feature(
  [listDeliveries, readDelivery, redeliverDelivery, listTenantDeliveries, listEvents, explainEvent, deliverEvent],
  (base: Base) => {
    const { redis, journal, subscriptions, now } = base
    const archive = createDeliveryArchive(redis)
    const sendAgain = createSendAgain({ deliveries: archive, publish: publishInTrace(base), now })
    const findBody = createBodyFromJournal(journal)
    const bodyFromJournal: RedeliverDeps['bodyFromJournal'] = ({ tenant, eventId, deliveryId }) =>
      findBody(tenant, eventId, deliveryId)
    const redeliver = createRedeliver({
      findSubscription: ({ tenant, subscriptionId }) => subscriptions.find(tenant, subscriptionId),
      find: (deliveryId) => archive.find(deliveryId),
      note: (deliveryId, requestId, parkedRun) => archive.noteRedelivery(deliveryId, requestId, parkedRun),
      forget: (deliveryId, requestId) => archive.forgetRedelivery(deliveryId, requestId),
      sendAgain,
      bodyFromJournal,
    })
    return {
      deps: {
        subscriptions,
        deliveries: archive,
        deliveryLog: createDeliveryLogReader(redis),
        tenantLog: createTenantLog(redis),
        parked: createTenantParked(redis),
        events: createEventList(redis, journal),
        journal,
        healthOf: createHealthOf(redis),
        redeliver,
        sendAgain,
        bodyFromJournal,
        now,
      },
    }
  },
)
