import {
  type Config,
  type commonFields,
  commonRules,
  createLogger,
  createMetrics,
  type Fields,
  isTlsUnverified,
  type LogFields,
  type Logger,
  loadConfig,
  type Metrics,
  meterLog,
  openTracing,
  type ReadinessChecks,
  type Rule,
  runProcess,
  Shutdown,
  startHealthServer,
  startRules,
  type Tracing,
  VERSION,
} from '@switchhook/runtime'

export type CommonConfig = Config<typeof commonFields>

/** The parts that every service has before it creates its own. */
export interface Service<C extends CommonConfig = CommonConfig> {
  readonly name: string
  readonly config: C
  readonly log: Logger
  /** Closes in reverse order of `defer`, within `SHUTDOWN_GRACE`. */
  readonly shutdown: Pick<Shutdown, 'defer'>
  readonly metrics: Metrics
  readonly tracing: Tracing
}

/** A running service's report to `startService`. */
export interface Running {
  /** `/readyz` answers 503 unless all of them hold. */
  readonly readiness: ReadinessChecks
  /** Dependencies that the service can do without for a while: a failed check is listed as `degraded`. */
  readonly optional?: ReadinessChecks
  readonly details?: LogFields
}

/** Runs a service until SIGTERM or SIGINT. Wrong configuration and any unhandled error end the process. */
export function startService<F extends Fields>(
  definition: { readonly name: string; readonly fields: F; readonly rules?: readonly Rule<F>[] },
  start: (service: Service<Config<F> & CommonConfig>) => Promise<Running>,
): void {
  const { name, fields, rules = [] } = definition
  if (process.argv.includes('--version')) return void process.stdout.write(`${name} ${VERSION}\n`)
  runProcess(name, async () => {
    const config = loadConfig(fields, process.env, [
      ...commonRules,
      ...startRules,
      ...rules,
    ] as readonly Rule<F>[]) as Config<F> & CommonConfig
    const log = createLogger(name, config.LOG_LEVEL)
    if (isTlsUnverified()) {
      log.warn('NODE_TLS_REJECT_UNAUTHORIZED is 0: certificates of receivers and identity providers are not checked')
    }
    const shutdown = new Shutdown(log, config.SHUTDOWN_GRACE)
    shutdown.onSignals('SIGTERM', 'SIGINT')
    const metrics = createMetrics(name)
    meterLog(metrics, log)
    const health = await startHealthServer({ port: config.HEALTH_PORT, host: config.LISTEN_HOST, metrics })
    shutdown.defer('health', () => health.close())
    const tracing = await openTracing({ config, service: name, log })
    shutdown.defer('tracing', () => tracing.close())
    const { readiness, optional, details } = await start({ name, config, log, shutdown, metrics, tracing })
    health.readyWhen(readiness, optional)
    log.info('started', { ...details, version: VERSION, healthPort: health.port })
  })
}
