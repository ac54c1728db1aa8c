import { choice, duration, type Field, port, urls } from './fields.ts'
import { tracingFields } from './tracing/tracing-fields.ts'

/** One Redis; or, beginning with any of several, the primary that sentinels name, or a cluster. */
const redisUrls = (): Field<readonly string[]> =>
  urls(['redis', 'rediss', 'redis+sentinel', 'rediss+sentinel', 'redis+cluster', 'rediss+cluster'], {
    alone: ['redis', 'rediss'],
  })

/** The variables that every service reads. */
export const commonFields = {
  AMQP_URL: urls(['amqp', 'amqps']),
  REDIS_URL: redisUrls(),
  NODE_ENV: choice(['development', 'test', 'production'], 'development'),
  LOG_LEVEL: choice(['error', 'warn', 'info', 'debug'], 'info'),
  SHUTDOWN_GRACE: duration('30s'),
  HEALTH_PORT: port(9100),
  ...tracingFields,
}
