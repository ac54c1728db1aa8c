import { createCheckStore } from '@switchhook/store'
import type { DeliveriesFeature } from '../deliveries/deliveries-feature.ts'
import type { Base, Feature } from '../feature.ts'
import type { SubscriptionsFeature } from '../subscriptions/subscriptions-feature.ts'
import { createTrialRoutes } from './trial-routes.ts'

export const createTrialsFeature = (
  { config, redis, broker }: Base,
  subscriptions: SubscriptionsFeature,
  deliveries: DeliveriesFeature,
): Feature => ({
  routes: createTrialRoutes({
    subscriptions: subscriptions.storeFor404,
    deliveries: deliveries.archive,
    publishDelivery: deliveries.publish,
    publishCheck: (check) => broker.publishCheck(check),
    checks: createCheckStore(redis),
    checkTimeoutMs: config.RECEIVER_CHECK_TIMEOUT,
  }),
})
