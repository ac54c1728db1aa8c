import type { Broker } from '@switchhook/messaging'
import type { Service } from '@switchhook/service'
import {
  createDeliveryArchive,
  createHeldLimitStore,
  createOutageStore,
  createParkedLimitStore,
  type Redis,
  type SubscriptionStore,
} from '@switchhook/store'
import { limitsOf, retentionOf, type WorkerConfig } from '../config.ts'
import type { DeliveryMeter } from '../reporting/delivery-meter.ts'
import { startLimiter } from './limiter.ts'
import { createNotices } from './notices.ts'

export interface StartNoticesDeps extends Pick<Service<WorkerConfig>, 'config' | 'log'> {
  readonly redis: Redis
  readonly subscriptions: Pick<SubscriptionStore, 'matching'>
  readonly broker: Pick<Broker, 'publishEvent'>
  readonly meter: Pick<DeliveryMeter, 'noticePublished' | 'parkedReleased'>
}

const PARKED_SWEEP_EVERY_MS = 5_000

/** The notices, and the limits on parked deliveries, which publish one of them. */
export function startNotices({ config, redis, subscriptions, broker, meter, log }: StartNoticesDeps) {
  const archive = createDeliveryArchive(redis)
  const parkedLimits = createParkedLimitStore(redis, retentionOf(config))
  const notices = createNotices({
    isWanted: async (tenant, eventType) => (await subscriptions.matching(tenant, eventType)).length > 0,
    outages: createOutageStore(redis),
    parkedLimits,
    heldLimits: createHeldLimitStore(redis, config.PARKED_RETENTION),
    find: ({ deliveryId }) => archive.find(deliveryId),
    publish: (event) => broker.publishEvent(event),
    published: meter.noticePublished,
    log,
  })
  const limiter = startLimiter({
    store: parkedLimits,
    limits: limitsOf(config),
    everyMs: PARKED_SWEEP_EVERY_MS,
    noticeBeyond: 1,
    notice: notices.parkedLimit,
    released: (total, { tenant, subscriptionId }, limit) => {
      meter.parkedReleased(total)
      log.info('parked deliveries exceed their limit', { tenant, subscriptionId, limit, ...total })
    },
    now: Date.now,
    log,
  })
  return { notices, limiter }
}
