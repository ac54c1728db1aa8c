import type { Subscription } from '@switchhook/contracts'
import {
  type Contacts,
  createBreakerReader,
  createCheckStore,
  createContactStore,
  createCoolDownHistory,
  createDeliveryArchive,
  createDeliveryCounter,
  createDeliveryLogReader,
  createDeliveryPolicyStore,
  createEventList,
  createHeldStore,
  createParkedCounter,
  createPullerStore,
  createRejectionStore,
  createStatisticsStore,
  createTenantLog,
  createTenantParked,
  createUptimeStore,
  type EndpointHealth,
  type Redis,
} from '@switchhook/store'
import type { Base } from '../base.ts'

/** `Base`, the stores of webhooks and the reader `healthOf`, from which each feature picks what it uses. */
export type WebhookParts = Base & ReturnType<typeof openStores>

/**
 * The stores of webhooks, and `healthOf`, a function that reads the health of an endpoint. The store of subscriptions is
 * in `Base`: requests wait until it is open.
 */
export const openStores = ({ config, redis, journal }: Base) => ({
  deliveries: createDeliveryArchive(redis),
  /** The latest deliveries of one subscription. */
  deliveryLog: createDeliveryLogReader(redis, journal),
  /** The deliveries of the tenant's latest events. */
  tenantLog: createTenantLog(redis, journal),
  parked: createTenantParked(redis),
  parkedCounts: createParkedCounter(redis),
  events: createEventList(journal),
  held: createHeldStore(redis),
  pullers: createPullerStore(redis),
  /** When clients could ask this installation. */
  uptime: createUptimeStore(redis),
  rejections: createRejectionStore(redis),
  checks: createCheckStore(redis),
  healthOf: createHealthOf(redis),
  standings: createDeliveryCounter(redis, journal),
  statistics: createStatisticsStore(redis, { subscriptions: config.STATISTICS_SUBSCRIPTIONS }),
  coolDowns: createCoolDownHistory(redis),
  policy: createDeliveryPolicyStore(redis),
})

/** The circuit breaker's state of an endpoint, and its last success and failure. */
export type Health = EndpointHealth & Contacts

function createHealthOf(redis: Redis): (subscription: Subscription) => Promise<Health> {
  const breakers = createBreakerReader(redis)
  const contacts = createContactStore(redis)
  return async ({ tenant, id }) => {
    const endpoint = { tenant, subscriptionId: id }
    const [health, contact] = await Promise.all([breakers.health(endpoint), contacts.find(endpoint)])
    return { ...health, ...contact }
  }
}
