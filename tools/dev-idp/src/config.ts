import { choice, duration, integer, optional, port, type Rule, text } from '@switchhook/runtime'

export const devIdpFields = {
  DEV_IDP_HOST: text('127.0.0.1'),
  DEV_IDP_PORT: port(8090),
  DEV_IDP_KEYS: optional(text()),
  /** Number of further tenants, `tenant-1` and so on. */
  DEV_IDP_TENANTS: integer({ min: 0, max: 500 }, 0),
  NODE_ENV: choice(['development', 'test', 'production'], 'development'),
  LOG_LEVEL: choice(['error', 'warn', 'info', 'debug'], 'info'),
  SHUTDOWN_GRACE: duration('10s'),
  /** Set in containers, for health checks. The local runner does not need it. */
  HEALTH_PORT: optional(port()),
}

export const neverInProduction: Rule<typeof devIdpFields> = ({ NODE_ENV }) =>
  NODE_ENV === 'production'
    ? 'NODE_ENV must not be production: the client secrets of this identity provider are public'
    : undefined
