import { createCheckStore, createDeliveryArchive } from '@switchhook/store'
import type { Base } from '../../base.ts'
import { feature } from '../../http/feature.ts'
import { checkReceiver, testSubscription } from './trial-routes.ts'

/** The trials of a subscription. They are sent without any event. */
export const trials = feature([testSubscription, checkReceiver], (base: Base) => ({
  deps: { ...base, deliveries: createDeliveryArchive(base.redis), checks: createCheckStore(base.redis) },
}))
