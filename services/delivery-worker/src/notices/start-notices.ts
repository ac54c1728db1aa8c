import type { PlatformEvent } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
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
import { type Limiter, startLimiter } from './limiter.ts'
import { createNotices, type Notices } from './notices.ts'

export interface StartNoticesDeps {
  readonly config: WorkerConfig
  readonly redis: Redis
  readonly subscriptions: Pick<SubscriptionStore, 'matching'>
  /** Resolves once the broker has confirmed the event. */
  readonly publish: (event: PlatformEvent) => Promise<void>
  readonly meter: Pick<DeliveryMeter, 'noticePublished' | 'parkedReleased'>
  readonly log: Logger
}

/** How often parked deliveries beyond the limits are released. */
const PARKED_SWEEP_EVERY_MS = 5_000

/** The notices, and the limits on parked deliveries, which publish one of them. */
export function startNotices({ config, redis, subscriptions, publish, meter, log }: StartNoticesDeps): {
  readonly notices: Notices
  readonly limiter: Limiter
} {
  const archive = createDeliveryArchive(redis)
  const parkedLimits = createParkedLimitStore(redis, retentionOf(config))
  const notices = createNotices({
    isWanted: async (tenant, eventType) => (await subscriptions.matching(tenant, eventType)).length > 0,
    outages: createOutageStore(redis),
    parkedLimits,
    heldLimits: createHeldLimitStore(redis, config.PARKED_RETENTION),
    find: ({ deliveryId }) => archive.find(deliveryId),
    publish,
    published: meter.noticePublished,
    log,
  })
  const limiter = startLimiter({
    store: {
      ...parkedLimits,
      trim: ({ subscriptionId }, allowance) => parkedLimits.trim(subscriptionId, allowance),
    },
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
