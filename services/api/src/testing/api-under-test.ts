import { createContextOnly, createMetrics, type Logger, loadConfig, Shutdown } from '@switchhook/runtime'
import { createCheckedClient } from '@switchhook/servicekit'
import { type Api, type StartApiOptions, startApi } from '../api.ts'
import { apiFields, apiRules } from '../config.ts'

/** Test receivers run on this machine. */
const RECEIVERS_HERE = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128' }

interface LogLine {
  readonly level: string
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export type ApiUnderTest = Awaited<ReturnType<typeof startApiUnderTest>>

/** Starts a complete api in this process, on a free port. */
export async function startApiUnderTest(
  env: Readonly<Record<string, string>>,
  options: Pick<StartApiOptions, 'keyTiming' | 'deadlines' | 'idempotencyTiming'> = {},
) {
  const lines: LogLine[] = []
  const writer =
    (level: string): Logger['info'] =>
    (message, fields = {}) =>
      void lines.push({ level, message, fields })
  const log = { debug: writer('debug'), info: writer('info'), warn: writer('warn'), error: writer('error') }
  const config = loadConfig(apiFields, { API_PORT: '0', ...RECEIVERS_HERE, ...env }, apiRules)
  const shutdown = new Shutdown(log, 10_000)
  const metrics = createMetrics('api')
  const keyTiming = { refreshMs: 60_000, cooldownMs: 0, timeoutMs: 2_000 }
  // Without the time in which idle connections stay open.
  const deadlines = { lingerMs: 0 }
  const { readiness, optional, details } = await startApi({
    name: 'api',
    config,
    log,
    shutdown,
    metrics,
    tracing: createContextOnly(),
    keyTiming,
    deadlines,
    ...options,
  })
  const { port } = details
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    port,
    call: createCheckedClient(url),
    log: lines as readonly LogLine[],
    metrics,
    /** The result of `/readyz`. */
    takesRequests: () => Object.values(readiness).every((holds) => holds()),
    /** Whether `/readyz` lists the check as degraded. */
    isDegraded: (check: keyof Api['optional']) => !optional[check](),
    /** Both Redis and the broker are connected. */
    isReady: () => [...Object.values(readiness), optional.rabbitmq].every((holds) => holds()),
    close: async (): Promise<void> => {
      expect(await shutdown.run()).toBe(true)
    },
  }
}
