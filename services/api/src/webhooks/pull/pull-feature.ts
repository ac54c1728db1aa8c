import { createSigner } from '@switchhook/signing'
import { feature } from '../../http/feature.ts'
import type { WebhookParts } from '../stores.ts'
import { createLeaseTokens } from './lease-tokens.ts'
import { reportOutcomes } from './outcomes-route.ts'
import { receiveDeliveries } from './receive-route.ts'
import { createWaiting } from './waiting.ts'

/** Pull subscriptions: clients receive their deliveries, and report the outcomes. */
export const pull = feature([receiveDeliveries, reportOutcomes], (parts: WebhookParts) => {
  const { held, metrics, log, vault } = parts
  const waiting = createWaiting(held, log)
  metrics.gauge('switchhook_waiting_receivers', 'Requests that wait for deliveries of pull subscriptions.', () =>
    waiting.count(),
  )
  const deps = { ...parts, waiting, signer: createSigner(parts), tokens: createLeaseTokens(vault) }
  return { deps, endRequests: () => waiting.close() }
})
