import { backlogQueues, serviceTopology } from '@switchhook/messaging'
import { tracePublishDelivery } from '@switchhook/runtime'
import { openBacking, type Running, type Service } from '@switchhook/service'
import { createDeliveryLog, createSubscriptionStore } from '@switchhook/store'
import type { FanoutConfig } from './config.ts'
import { createLogBuffer } from './delivery-log/log-buffer.ts'
import { createFanoutMeter, createLogMeter } from './events/fanout-meter.ts'
import { createHandleEvent } from './events/handle-event.ts'
import { traceEvents } from './events/trace-events.ts'
import { openIntake } from './intake/open-intake.ts'

/** Starts every part of fan-out, in the order of its dependencies. Resolves once it consumes. */
export async function startFanout(service: Service<FanoutConfig>): Promise<Running> {
  const { config, log, shutdown, metrics, tracing } = service
  const { redis, broker, installation, readiness } = await openBacking(service, {
    topology: () => serviceTopology([], 0, config.DELIVERY_SHARDS, backlogQueues),
  })

  const subscriptions = createSubscriptionStore(redis, installation.verify)
  const deliveryLog = createDeliveryLog(redis, {
    size: config.DELIVERY_LOG_SIZE,
    retentionMs: config.DELIVERY_LOG_RETENTION,
    eventListSize: config.EVENT_LIST_SIZE,
    eventRetentionMs: config.DELIVERY_RETENTION,
  })
  const logBuffer = createLogBuffer({
    write: (events) => deliveryLog.write(events, Date.now()),
    dropped: createLogMeter(metrics),
    log,
  })
  shutdown.defer('delivery log', () => logBuffer.close())
  const fannedOut = createFanoutMeter(metrics)
  const stop = await openIntake({
    broker,
    installation,
    concurrency: config.FANOUT_CONCURRENCY,
    shards: config.DELIVERY_SHARDS,
    handling: (publish, charge) =>
      traceEvents(
        tracing,
        createHandleEvent({
          matching: (tenant, eventType) => subscriptions.matching(tenant, eventType),
          publishDelivery: tracePublishDelivery(tracing, publish),
          now: () => new Date(),
          addToLog: config.DELIVERY_LOG_SIZE === 0 ? () => {} : (event) => logBuffer.add(event),
          fannedOut: (event, deliveries, tookMs) => {
            fannedOut(event, deliveries, tookMs)
            charge(event, deliveries)
          },
          log,
        }),
      ),
    metrics,
    log,
  })
  shutdown.defer('consumer', stop)

  return { readiness, details: { concurrency: config.FANOUT_CONCURRENCY } }
}
