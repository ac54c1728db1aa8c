import { startPoll } from '@switchhook/runtime'
import type { Service } from '@switchhook/service'
import {
  createContactStore,
  createDeliveryPolicyStore,
  createLiveAttemptStore,
  createStatisticsStore,
  type Redis,
} from '@switchhook/store'
import { policyOf, type WorkerConfig } from '../config.ts'
import { createAttemptLog } from './attempt-log.ts'
import { createContacts } from './contacts.ts'
import { createDeliveryMeter } from './delivery-meter.ts'
import { createDeliverySpans } from './delivery-spans.ts'
import { createLiveAttempts } from './live-attempts.ts'
import { notifyAll } from './observer.ts'
import { createStatistics } from './statistics.ts'

export type Observers = ReturnType<typeof startObservers>

const CONTACTS_EVERY_MS = 5_000
const STATISTICS_EVERY_MS = 10_000
/** How often the worker's policy is reported, so that a Redis which was emptied knows it again soon. */
const POLICY_EVERY_MS = 60_000

/**
 * Everything that observes deliveries: log, metrics, traces, contact times, statistics and the live stream. Also reports the
 * worker's policy; the next report makes up for a failed one.
 */
export function startObservers(
  { config, log, metrics, tracing }: Pick<Service<WorkerConfig>, 'config' | 'log' | 'metrics' | 'tracing'>,
  redis: Redis,
) {
  const spans = createDeliverySpans(tracing)
  const meter = createDeliveryMeter(metrics)
  const contacts = createContacts(createContactStore(redis), log)
  const statisticsStore = createStatisticsStore(redis, { subscriptions: config.STATISTICS_SUBSCRIPTIONS })
  const statistics = createStatistics(statisticsStore, log, Date.now)
  const live = createLiveAttempts(createLiveAttemptStore(redis), log)
  const policies = createDeliveryPolicyStore(redis)
  const policyPoll = startPoll(POLICY_EVERY_MS, () => policies.report(policyOf(config)).catch(() => {}))
  policyPoll.wake()
  const polls = [
    policyPoll,
    startPoll(CONTACTS_EVERY_MS, contacts.flush),
    startPoll(STATISTICS_EVERY_MS, statistics.flush),
  ]
  return {
    observer: notifyAll([
      spans.observer,
      contacts.observer,
      statistics.observer,
      meter.observer,
      live.observer,
      { concluded: createAttemptLog(log, config.LOG_SAMPLE_ACKNOWLEDGED) },
    ]),
    meter,
    /** Counts and logs a cool-down. @param retryAfterMs of the endpoint, if it began the cool-down */
    coolDownBegan: (subscriptionId: string, retryAfterMs: number | undefined): void => {
      meter.cooldown()
      log.info('cool-down began', { subscriptionId, cooldownMs: config.BREAKER_COOLDOWN, pauseMs: retryAfterMs })
    },
    /** Counts and logs parked deliveries that were released because of a limit. */
    parkedReleased: (released: Parameters<typeof meter.parkedReleased>[0]): void => {
      meter.parkedReleased(released)
      log.info('parked deliveries exceed their limit', { ...released })
    },
    /** Wraps the handling of each message in a span. */
    traced: spans.handle,
    listened: live.setListened,
    stop: async () => {
      await Promise.all(polls.map((poll) => poll.stop()))
      await Promise.all([contacts.flush(), statistics.flush(), live.flush()])
    },
  }
}
