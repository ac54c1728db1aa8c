import { choice, duration, port, url, urls } from './fields.ts'

/** The variables that every service reads. */
export const commonFields = {
  AMQP_URL: urls(['amqp', 'amqps']),
  REDIS_URL: url(['redis', 'rediss']),
  NODE_ENV: choice(['development', 'test', 'production'], 'development'),
  LOG_LEVEL: choice(['error', 'warn', 'info', 'debug'], 'info'),
  SHUTDOWN_GRACE: duration('30s'),
  HEALTH_PORT: port(9100),
}
