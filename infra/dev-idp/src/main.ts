import {
  choice,
  createLogger,
  duration,
  loadConfig,
  optional,
  port,
  Shutdown,
  startService,
  text,
} from '@switchhook/runtime'
import { startIdentityProvider } from './identity-provider.ts'

const fields = {
  DEV_IDP_HOST: text('127.0.0.1'),
  DEV_IDP_PORT: port(8090),
  DEV_IDP_KEYS: optional(text()),
  NODE_ENV: choice(['development', 'test', 'production'], 'development'),
  LOG_LEVEL: choice(['error', 'warn', 'info', 'debug'], 'info'),
  SHUTDOWN_GRACE: duration('10s'),
}

startService('dev-idp', async () => {
  const config = loadConfig(fields, process.env, [
    ({ NODE_ENV }) =>
      NODE_ENV === 'production'
        ? 'NODE_ENV must not be production: this identity provider hands tokens to anybody'
        : undefined,
  ])
  const log = createLogger('dev-idp', config.LOG_LEVEL)
  const shutdown = new Shutdown(log, config.SHUTDOWN_GRACE)
  shutdown.onSignals('SIGTERM', 'SIGINT')
  const provider = await startIdentityProvider({
    host: config.DEV_IDP_HOST,
    port: config.DEV_IDP_PORT,
    keysFile: config.DEV_IDP_KEYS,
  })
  shutdown.defer('http', () => provider.close())
  log.warn('identity provider for development only: its client secrets are public', { url: provider.baseUrl })
})
