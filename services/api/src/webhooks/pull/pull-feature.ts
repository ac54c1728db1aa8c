import { createSigner } from '@switchhook/signing'
import { createDeliveryLogReader, createHeldStore, createOutcomeStore, createPullerStore } from '@switchhook/store'
import type { Base } from '../../base.ts'
import { feature } from '../../http/feature.ts'
import { reportOutcomes } from './outcomes-route.ts'
import { receiveDeliveries } from './receive-route.ts'
import { createWaiting } from './waiting.ts'

/** Pull subscriptions: clients receive their deliveries, and report the outcomes. */
export const pull = feature([receiveDeliveries, reportOutcomes], (base: Base) => {
  const { redis, metrics, log } = base
  const held = createHeldStore(redis)
  const waiting = createWaiting(held, log)
  metrics.gauge('switchhook_waiting_receivers', 'Requests that wait for deliveries of pull subscriptions.', () =>
    waiting.count(),
  )
  return {
    deps: {
      ...base,
      held,
      pullers: createPullerStore(redis),
      waiting,
      signer: createSigner(base),
      deliveryLog: createDeliveryLogReader(redis),
      outcomes: createOutcomeStore(redis),
    },
    endRequests: () => waiting.close(),
  }
})
