import { backlogQueues, eventQueues, serviceTopology } from '@switchhook/messaging'
import { openBacking, type Running, type Service } from '@switchhook/service'
import { createMatching } from '@switchhook/store'
import { boundsOf } from './bounds.ts'
import type { FanoutConfig } from './config.ts'
import { startConsuming } from './consume.ts'
import { createHistory } from './delivery-log/log-buffer.ts'
import { createFanoutMeter, createLogMeter } from './events/fanout-meter.ts'
import { createHandleEvent, traceEvents } from './events/handle-event.ts'
import { startIntake } from './intake/intake.ts'

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
  const intake = startIntake({ bounds, broker, deliveryShards, handle: traceEvents(tracing, handle), metrics })

  // Stopped in the reverse order.
  shutdown.defer('delivery log', history.close)
  shutdown.defer('polls', intake.stopPolls)
  const consumers = await startConsuming({ bounds, broker, consume, intake, shards, log })
  shutdown.defer('consumers', consumers.drain)
  return { readiness, details: { concurrency: config.FANOUT_CONCURRENCY, shards } }
}
