import {
  createLogger,
  createMetrics,
  loadConfig,
  openTracing,
  Shutdown,
  startHealthServer,
  startService,
} from '@switchhook/runtime'
import { apiFields, apiRules } from './config.ts'
import { startApi } from './start-api.ts'

const SERVICE = 'api'

startService(SERVICE, async () => {
  const config = loadConfig(apiFields, process.env, apiRules)
  const log = createLogger(SERVICE, config.LOG_LEVEL)
  const shutdown = new Shutdown(log, config.SHUTDOWN_GRACE)
  shutdown.onSignals('SIGTERM', 'SIGINT')

  const metrics = createMetrics(SERVICE)
  const health = await startHealthServer({ port: config.HEALTH_PORT, metrics })
  shutdown.defer('health', () => health.close())
  const tracing = await openTracing({ config, service: SERVICE, log })
  shutdown.defer('tracing', () => tracing.close())
  const api = await startApi({ config, log, shutdown, metrics, tracing })
  health.readyWhen(api.checks, api.withoutWhich)
  log.info('started', { port: api.port, healthPort: health.port })
})
