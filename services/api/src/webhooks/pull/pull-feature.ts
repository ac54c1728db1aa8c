import { createSigner } from '@switchhook/signing'
import { createDeliveryArchive, createHeldStore, createOutcomeStore, createPullerStore } from '@switchhook/store'
import type { Base } from '../../base.ts'
import { feature } from '../../http/feature.ts'
import { type OutcomesRouteDeps, reportOutcomes } from './outcomes-route.ts'
import { type ReceiveRouteDeps, receiveDeliveries } from './receive-route.ts'
import { createWaiting } from './waiting.ts'

/** Pull subscriptions: clients receive their deliveries, and report the outcomes. */
export const pull = feature<Base, ReceiveRouteDeps & OutcomesRouteDeps>([receiveDeliveries, reportOutcomes], (base) => {
  const { redis, broker, subscriptions, vault, log, metrics, now } = base
  const held = createHeldStore(redis)
  const pullers = createPullerStore(redis)
  const waiting = createWaiting({ held, log })
  metrics.gauge('switchhook_waiting_receivers', 'Requests that wait for deliveries of pull subscriptions.', () =>
    waiting.count(),
  )
  return {
    deps: {
      subscriptions,
      held,
      pullers,
      waiting,
      signer: createSigner({ vault, log, now }),
      deliveries: createDeliveryArchive(redis),
      publishBacklogged: (delivery) => broker.publishBacklogged(delivery),
      broker,
      outcomes: createOutcomeStore(redis),
      now,
    },
    endRequests: () => waiting.close(),
  }
})
