import { backlogQueues, eventQueues, serviceTopology } from '@switchhook/messaging'
import { startPoll } from '@switchhook/runtime'
import { openBacking, type Running, type Service } from '@switchhook/service'
import { createMatching } from '@switchhook/store'
import { boundsOf } from './bounds.ts'
import type { FanoutConfig } from './config.ts'
import { startConsuming } from './consume.ts'
import { createHistory } from './delivery-log/log-buffer.ts'
import { createFanoutMeter, createIntakeMeter, createLogMeter } from './events/fanout-meter.ts'
import { createFirstAttempts, createYieldingAttempts } from './events/first-attempts.ts'
import { createHandleEvent, traceEvents } from './events/handle-event.ts'
import { FairSemaphore } from './intake/fair-semaphore.ts'
import { createIntake, END_WAITS_EVERY_MS, type Line } from './intake/intake.ts'
import { startQueueWatch } from './intake/queue-watch.ts'
import { AGE_EVERY_MS, TenantShares } from './intake/tenant-shares.ts'

/** Starts the parts of fan-out in the order of their dependencies. Resolves once it consumes. */
export async function startFanout(service: Service<FanoutConfig>): Promise<Running> {
  const { config, log, shutdown, metrics, tracing } = service
  const { DELIVERY_SHARDS: deliveryShards } = config
  const { redis, broker, installation, consume, readiness, shards } = await openBacking(service, {
    sharded: { configured: config.EVENT_SHARDS, namesOf: eventQueues },
    topology: (eventShards) => serviceTopology([], { deliveryShards, eventShards, others: backlogQueues }),
  })
  const bounds = boundsOf(config, shards)
  const history = createHistory({ config, redis, dropped: createLogMeter(metrics), log })
  const countFannedOut = createFanoutMeter(metrics)
  const handle = createHandleEvent({
    matching: createMatching(redis, installation.verify),
    hostNow: Date.now,
    fannedOut: (event, tookMs) => {
      history.add(event)
      countFannedOut(event.eventType, event.subscriptionIds.length, tookMs)
    },
    log,
  })

  const shares = new TenantShares()
  const direct = new FairSemaphore<Line>(bounds.handled.direct)
  const fromBacklogs = new FairSemaphore<number>(bounds.handled.fromBacklogs, { isOpen: false })
  const firstAttempts = createFirstAttempts(broker, deliveryShards)
  const yielding = createYieldingAttempts(broker)
  const watch = startQueueWatch({ broker, deliveryShards, shares, direct, fromBacklogs, firstAttempts, yielding })
  const intake = createIntake({
    shares,
    direct,
    fromBacklogs,
    handle: traceEvents(tracing, handle),
    firstAttempts,
    yielding,
    broker,
    areDeliveriesLate: watch.areDeliveriesLate,
    deferred: createIntakeMeter(metrics, () => shares.deferredTenants()),
  })
  const polls = [
    watch,
    startPoll(AGE_EVERY_MS, async () => shares.age()),
    startPoll(END_WAITS_EVERY_MS, async () => fromBacklogs.endWaits()),
  ]

  // Stopped in the reverse order.
  shutdown.defer('delivery log', history.close)
  shutdown.defer('polls', () => Promise.all(polls.map((poll) => poll.stop())))
  const consumers = await startConsuming({ bounds, broker, consume, intake, shards, log })
  shutdown.defer('consumers', consumers.drain)
  return { readiness, details: { concurrency: config.FANOUT_CONCURRENCY, shards } }
}
