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

/** `Base` and the stores of webhooks, from which each feature picks what it uses. */
export type WebhookParts = Base & ReturnType<typeof openStores>

/** The stores of webhooks, except the one of subscriptions, which is in `Base`: requests wait until it is open. */
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
