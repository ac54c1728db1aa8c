import { createLogger, createMetrics, loadConfig, Shutdown, startHealthServer, startService } from '@switchhook/runtime'
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
  const api = await startApi({ config, log, shutdown, metrics })
  health.readyWhen(api.checks)
  log.info('started', { port: api.port, healthPort: health.port })
})
