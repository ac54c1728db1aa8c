import { createSigner } from '@switchhook/signing'
import { feature } from '../../http/feature.ts'
import type { Webhooks } from '../stores.ts'
import { reportOutcomes } from './outcomes-route.ts'
import { receiveDeliveries } from './receive-route.ts'
import { createWaiting } from './waiting.ts'

/** Pull subscriptions: clients receive their deliveries, and report the outcomes. */
export const pull = feature([receiveDeliveries, reportOutcomes], (webhooks: Webhooks) => {
  const { held, metrics, log } = webhooks
  const waiting = createWaiting(held, log)
  metrics.gauge('switchhook_waiting_receivers', 'Requests that wait for deliveries of pull subscriptions.', () =>
    waiting.count(),
  )
  return { deps: { ...webhooks, waiting, signer: createSigner(webhooks) }, endRequests: () => waiting.close() }
})
