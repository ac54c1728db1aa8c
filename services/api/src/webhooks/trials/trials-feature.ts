import { createCheckStore, createDeliveryArchive } from '@switchhook/store'
import type { Base } from '../../base.ts'
import { feature } from '../../http/feature.ts'
import { checkReceiver, testSubscription } from './trial-routes.ts'

/** The trials of a subscription. They are sent without any event. */
export const trials = feature([testSubscription, checkReceiver], (base: Base) => ({
  deps: {
    subscriptions: base.subscriptions,
    deliveries: createDeliveryArchive(base.redis),
    publishDelivery: base.publishDelivery,
    publishCheck: (check) => base.broker.publishCheck(check),
    checks: createCheckStore(base.redis),
    checkTimeoutMs: base.config.RECEIVER_CHECK_TIMEOUT,
  },
}))
