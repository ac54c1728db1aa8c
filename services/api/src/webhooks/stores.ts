import {
  createCheckStore,
  createCoolDownHistory,
  createDeliveryArchive,
  createDeliveryCounter,
  createDeliveryLogReader,
  createDeliveryPolicyStore,
  createEventList,
  createHeldStore,
  createOutcomeStore,
  createPullerStore,
  createRejectionStore,
  createStatisticsStore,
  createTenantLog,
  createTenantParked,
} from '@switchhook/store'
import type { Base } from '../base.ts'

/** What the features of webhooks have in common. */
export type Webhooks = Base & ReturnType<typeof openStores>

/** The stores of webhooks. The store of subscriptions is in `Base`, because everything waits for it. */
export const openStores = ({ config, redis, journal }: Base) => ({
  deliveries: createDeliveryArchive(redis),
  /** The latest deliveries of one subscription. */
  deliveryLog: createDeliveryLogReader(redis),
  /** The deliveries of the tenant's latest events. */
  tenantLog: createTenantLog(redis),
  parked: createTenantParked(redis),
  events: createEventList(redis, journal),
  held: createHeldStore(redis),
  pullers: createPullerStore(redis),
  outcomes: createOutcomeStore(redis),
  rejections: createRejectionStore(redis),
  checks: createCheckStore(redis),
  standings: createDeliveryCounter(redis),
  statistics: createStatisticsStore(redis, { subscriptions: config.STATISTICS_SUBSCRIPTIONS }),
  coolDowns: createCoolDownHistory(redis),
  policy: createDeliveryPolicyStore(redis),
})
