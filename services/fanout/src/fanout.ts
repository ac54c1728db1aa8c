import { Queue, serviceTopology } from '@switchhook/messaging'
import { tracePublishDelivery } from '@switchhook/runtime'
import { openBacking, type Running, type Service } from '@switchhook/service'
import { createDeliveryLog, createJournal, createSubscriptionStore } from '@switchhook/store'
import type { FanoutConfig } from './config.ts'
import { createLogBuffer } from './delivery-log/log-buffer.ts'
import { createFanoutMeter, createLogMeter } from './events/fanout-meter.ts'
import { createHandleEvent, parseEventMessage } from './events/handle-event.ts'
import { traceEvents } from './events/trace-events.ts'

/** Starts every part of fan-out, in the order of its dependencies. Resolves once it consumes. */
export async function startFanout(service: Service<FanoutConfig>): Promise<Running> {
  const { config, log, shutdown, metrics, tracing } = service
  const { redis, broker, installation, readiness } = await openBacking(service, {
    topology: () => serviceTopology([], 0, config.DELIVERY_SHARDS),
  })

  const subscriptions = createSubscriptionStore(redis, installation.verify)
  const journalRetentionMs = config.EVENT_JOURNAL_SIZE > 0 ? config.EVENT_JOURNAL_RETENTION : 0
  const deliveryLog = createDeliveryLog(redis, {
    size: config.DELIVERY_LOG_SIZE,
    retentionMs: config.DELIVERY_LOG_RETENTION,
    eventListSize: config.EVENT_LIST_SIZE,
    eventRetentionMs: config.DELIVERY_RETENTION,
    eventListRetentionMs: Math.max(config.DELIVERY_RETENTION, journalRetentionMs),
  })
  const journal = createJournal(redis, { size: config.EVENT_JOURNAL_SIZE, retentionMs: config.EVENT_JOURNAL_RETENTION })
  const isLogOn = config.DELIVERY_LOG_SIZE > 0
  const logBuffer = createLogBuffer({
    write: async (events) => {
      // The journal last: while it is behind, the live stream shows no event that cannot be explained yet.
      if (isLogOn) await deliveryLog.write(events, Date.now())
      await journal.append(events)
    },
    dropped: createLogMeter(metrics),
    log,
  })
  shutdown.defer('delivery log', () => logBuffer.close())
  const handleEvent = createHandleEvent({
    matching: (tenant, eventType) => subscriptions.matching(tenant, eventType),
    publishDelivery: tracePublishDelivery(tracing, (delivery) => broker.publishDelivery(delivery)),
    now: () => new Date(),
    addToLog: isLogOn || config.EVENT_JOURNAL_SIZE > 0 ? (event) => logBuffer.add(event) : () => {},
    fannedOut: createFanoutMeter(metrics),
    log,
  })
  const consumer = await broker.consume({
    queue: Queue.fanoutEvents,
    parse: installation.checked(parseEventMessage),
    handle: traceEvents(tracing, handleEvent),
    concurrency: config.FANOUT_CONCURRENCY,
    recovered: installation.recovered,
  })
  shutdown.defer('consumer', () => consumer.drain())

  return { readiness, details: { concurrency: config.FANOUT_CONCURRENCY } }
}
