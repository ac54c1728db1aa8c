export { backoffMs } from './backoff.ts'
export { createBatch } from './batch.ts'
export { isCertificateError } from './certificate-error.ts'
export { type ClockWatch, startClockWatch } from './clock-watch.ts'
export {
  commonFields,
  commonRules,
  deliveryShardsField,
  eventShardsField,
  sharedFields,
} from './config/common-fields.ts'
export { type Config, ConfigError, type Fields, loadConfig, type Rule } from './config/config.ts'
export {
  amqpAddress,
  amqpFields,
  amqpRules,
  redisAddress,
  redisFields,
  redisRules,
  type ServerAddress,
} from './config/connection-fields.ts'
export {
  choice,
  described,
  duration,
  durations,
  type Field,
  FieldError,
  file,
  flag,
  hostNames,
  integer,
  json,
  networks,
  optional,
  origins,
  port,
  type Rate,
  rate,
  text,
  url,
} from './config/fields.ts'
export { answerWithin, type Deadline, NotAnswered, startDeadline } from './deadline.ts'
export { type HealthServer, type ReadinessChecks, startHealthServer } from './health-server.ts'
export { createLogger, type LogFields, type Logger } from './logger.ts'
export {
  type Counter,
  createMetrics,
  type Family,
  type Histogram,
  type Labels,
  type Metrics,
  SECONDS,
} from './metrics.ts'
export { type Poll, startPoll } from './poll.ts'
export { runProcess } from './run-process.ts'
export { Shutdown } from './shutdown.ts'
export { openTracing } from './tracing/open-tracing.ts'
export { deliveryAttributes, tracePublishDelivery } from './tracing/trace-deliveries.ts'
export { createContextOnly, type Span, spanned, type Tracing } from './tracing/tracing.ts'
export { VERSION } from './version.ts'
