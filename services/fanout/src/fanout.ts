import { backlogQueues, eventQueues, serviceTopology } from '@switchhook/messaging'
import { openBacking, type Running, type Service } from '@switchhook/service'
import { createDeliveryLog, createJournal, createMatching, type LoggedEvent } from '@switchhook/store'
import type { FanoutConfig } from './config.ts'
import { createLogBuffer } from './delivery-log/log-buffer.ts'
import { createFanoutMeter, createIntakeMeter, createLogMeter } from './events/fanout-meter.ts'
import { createHandleEvent } from './events/handle-event.ts'
import { traceEvents } from './events/trace-events.ts'
import { openIntake } from './intake/intake.ts'

/** Starts every part of fan-out, in the order of its dependencies. Resolves once it consumes. */
export async function startFanout(service: Service<FanoutConfig>): Promise<Running> {
  const { config, log, shutdown, metrics, tracing } = service
  const backing = await openBacking(service, {
    sharded: { configured: config.EVENT_SHARDS, namesOf: eventQueues },
    topology: (shards) =>
      serviceTopology([], { deliveryShards: config.DELIVERY_SHARDS, eventShards: shards, others: backlogQueues }),
  })
  const { redis, broker, installation, consume, readiness, shards: eventShards } = backing
  const matching = createMatching(redis, installation.verify)
  const deliveryLog = createDeliveryLog(redis, {
    size: config.DELIVERY_LOG_SIZE,
    retentionMs: config.DELIVERY_LOG_RETENTION,
  })
  const journal = createJournal(redis, {
    size: config.EVENT_JOURNAL_SIZE,
    retentionMs: config.EVENT_JOURNAL_RETENTION,
    deliveryRetentionMs: config.DELIVERY_RETENTION,
  })
  const isLogOn = config.DELIVERY_LOG_SIZE > 0
  const logBuffer = createLogBuffer({
    writes: [
      ...(isLogOn ? [(events: readonly LoggedEvent[]) => deliveryLog.write(events)] : []),
      // The journal last: while it is behind, the live stream shows no event that cannot be explained yet.
      (events) => journal.append(events),
    ],
    dropped: createLogMeter(metrics),
    log,
  })
  shutdown.defer('delivery log', () => logBuffer.close())
  const countFannedOut = createFanoutMeter(metrics)
  const handle = createHandleEvent({
    matching: ({ tenant, eventType, data, revision }) => matching(tenant, eventType, data, revision),
    now: () => new Date(),
    fannedOut: (event, tookMs) => {
      if (isLogOn || config.EVENT_JOURNAL_SIZE > 0) logBuffer.add(event)
      countFannedOut(event.eventType, event.subscriptionIds.length, tookMs)
    },
    log,
  })
  const stop = await openIntake({
    ...service,
    broker,
    consume,
    eventShards,
    handle: traceEvents(tracing, handle),
    meterDeferred: (tenants) => createIntakeMeter(metrics, tenants),
  })
  shutdown.defer('consumer', stop)

  return { readiness, details: { concurrency: config.FANOUT_CONCURRENCY, shards: eventShards } }
}
