import { createLogger, createMetrics, loadConfig, runProcess, Shutdown, startHealthServer } from '@switchhook/runtime'
import { devIdpFields, neverInProduction } from './config.ts'
import { startIdentityProvider } from './identity-provider.ts'
import { devTenants } from './tenants.ts'

const SERVICE = 'dev-idp'

runProcess(SERVICE, async () => {
  const config = loadConfig(devIdpFields, process.env, [neverInProduction])
  const log = createLogger(SERVICE, config.LOG_LEVEL)
  const shutdown = new Shutdown(log, config.SHUTDOWN_GRACE)
  shutdown.onSignals('SIGTERM', 'SIGINT')
  const provider = await startIdentityProvider({
    host: config.DEV_IDP_HOST,
    port: config.DEV_IDP_PORT,
    keysFile: config.DEV_IDP_KEYS,
    tenants: devTenants(config.DEV_IDP_TENANTS),
  })
  shutdown.defer('http', () => provider.close())
  if (config.HEALTH_PORT !== undefined) {
    const health = await startHealthServer({ port: config.HEALTH_PORT, metrics: createMetrics(SERVICE) })
    shutdown.defer('health', () => health.close())
    health.readyWhen({})
  }
  log.warn('identity provider for development only: its client secrets are public', { url: provider.baseUrl })
})
