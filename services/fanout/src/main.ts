import { openBroker, Queue, serviceTopology } from '@switchhook/messaging'
import {
  createLogger,
  createMetrics,
  loadConfig,
  openTracing,
  Shutdown,
  startClockWatch,
  startHealthServer,
  startService,
  tracePublishDelivery,
} from '@switchhook/runtime'
import {
  assertDurableInProduction,
  createDeliveryLog,
  createServerClock,
  createSubscriptionStore,
  openInstallation,
  openRedis,
} from '@switchhook/store'
import { fanoutFields } from './config.ts'
import { createFanoutMeter, createLogMeter } from './fanout-meter.ts'
import { createHandleEvent } from './handle-event.ts'
import { createLogBuffer } from './log-buffer.ts'
import { parseEventMessage } from './parse-event-message.ts'
import { traceEvents } from './trace-events.ts'

const SERVICE = 'fanout'

startService(SERVICE, async () => {
  const config = loadConfig(fanoutFields, process.env)
  const log = createLogger(SERVICE, config.LOG_LEVEL)
  const shutdown = new Shutdown(log, config.SHUTDOWN_GRACE)
  shutdown.onSignals('SIGTERM', 'SIGINT')

  const metrics = createMetrics(SERVICE)
  const health = await startHealthServer({ port: config.HEALTH_PORT, metrics })
  shutdown.defer('health', () => health.close())
  const tracing = await openTracing({ config, service: SERVICE, log })
  shutdown.defer('tracing', () => tracing.close())
  const redis = await openRedis({ url: config.REDIS_URL, log, name: SERVICE })
  shutdown.defer('redis', () => redis.close())
  await assertDurableInProduction(redis, config.NODE_ENV)
  const clock = await startClockWatch({ readServerMs: createServerClock(redis), now: Date.now, metrics, log })
  shutdown.defer('clock', () => clock.stop())
  const installation = await openInstallation({ redis, log })
  shutdown.defer('installation', () => installation.close())
  const topology = serviceTopology([], 0, config.DELIVERY_SHARDS)
  const broker = await openBroker({
    url: config.AMQP_URL,
    topology,
    log,
    name: SERVICE,
    metrics,
    installation: installation.id,
  })
  shutdown.defer('broker', () => broker.close())

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
  const handleEvent = createHandleEvent({
    matching: (tenant, eventType) => subscriptions.matching(tenant, eventType),
    publishDelivery: tracePublishDelivery(tracing, (delivery) => broker.publishDelivery(delivery)),
    now: () => new Date(),
    remember: config.DELIVERY_LOG_SIZE === 0 ? () => {} : (event) => logBuffer.add(event),
    fannedOut: createFanoutMeter(metrics),
    log,
  })
  const consumer = await broker.consume({
    queue: Queue.fanoutEvents,
    parse: installation.judged(parseEventMessage),
    handle: traceEvents(tracing, handleEvent),
    concurrency: config.FANOUT_CONCURRENCY,
    recovered: installation.recovered,
  })
  shutdown.defer('consumer', () => consumer.drain())

  health.readyWhen({
    redis: () => redis.isReady(),
    rabbitmq: () => broker.isReady(),
    consumers: () => broker.isConsuming(),
    clock: () => clock.isFit(),
    installation: installation.isConfirmed,
  })
  log.info('started', { healthPort: health.port, concurrency: config.FANOUT_CONCURRENCY })
})
