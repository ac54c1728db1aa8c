export * from './backoff.ts'
export { createBatch } from './batch.ts'
export * from './certificate-error.ts'
export { type ClockWatch, startClockWatch } from './clock-watch.ts'
export {
  commonFields,
  commonRules,
  deliveryShardsField,
  eventShardsField,
  sharedFields,
} from './config/common-fields.ts'
export * from './config/config.ts'
export {
  amqpAddress,
  amqpFields,
  amqpRules,
  authorityFile,
  redisAddress,
  redisFields,
  redisRules,
  type ServerAddress,
} from './config/connection-fields.ts'
export * from './config/fields.ts'
export * from './deadline.ts'
export * from './get-or-create.ts'
export * from './health-server.ts'
export { createLogger, type LogFields, type Logger } from './logger.ts'
export * from './metrics.ts'
export * from './poll.ts'
export * from './run-process.ts'
export * from './shutdown.ts'
export { openTracing } from './tracing/open-tracing.ts'
export * from './tracing/trace-deliveries.ts'
export { createContextOnly, type Span, spanned, type Tracing } from './tracing/tracing.ts'
export * from './version.ts'
