import type { RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Metrics } from './metrics.ts'
import { oneRequestAtATime } from './one-request-at-a-time.ts'
import { VERSION } from './version.ts'

/** More than the kubelet, Prometheus and a person need. */
const MAX_CONNECTIONS = 200

/** Conditions that must hold for the process to be ready, by name. */
export type ReadinessChecks = Readonly<Record<string, () => boolean>>

/**
 * Serves `/healthz` (200 with the version while the process runs), `/readyz` and `/metrics` (Prometheus text). `/readyz` answers 200 when the
 * start-up is complete and every check holds, else 503 with the result of each check; failed optional checks are listed
 * under `degraded`. No authentication: the port is for the cluster, not for clients. A service opens it first, because a
 * service that waits for its broker is alive and not ready.
 */
export async function startHealthServer({
  port,
  host,
  metrics,
}: {
  readonly port: number
  /** undefined: all addresses of this machine. */
  readonly host?: string | undefined
  readonly metrics: Metrics
}) {
  let readiness: ReadinessChecks = { started: () => false }
  let optional: ReadinessChecks = {}
  metrics.gauges('switchhook_build_info', 'The version of the process; the value is always 1.', () => [
    { labels: { version: VERSION }, value: 1 },
  ])
  metrics.gauges('switchhook_degraded', 'Whether an optional dependency of the process is down.', () =>
    Object.entries(optional).map(([check, holds]) => ({ labels: { check }, value: holds() ? 0 : 1 })),
  )
  metrics.gauges('switchhook_ready', 'Whether a check of /readyz holds.', () =>
    Object.entries(readiness).map(([check, holds]) => ({ labels: { check }, value: holds() ? 1 : 0 })),
  )

  const answerRequest: RequestListener = (request, response) => {
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      // RFC 9112, section 3.2.
      return answer(response, 400, { status: 'the header Host is missing' })
    }
    switch (request.url?.split('?')[0]) {
      case '/healthz':
        return answer(response, 200, { status: 'ok', version: VERSION })
      case '/readyz': {
        const checks = Object.fromEntries(Object.entries(readiness).map(([name, holds]) => [name, holds()]))
        const ready = Object.values(checks).every(Boolean)
        const degraded = Object.keys(optional).filter((name) => optional[name]?.() === false)
        return answer(response, ready ? 200 : 503, {
          status: ready ? 'ready' : 'not ready',
          checks,
          ...(degraded.length > 0 && { degraded }),
        })
      }
      case '/metrics':
        return void metrics.text().then(
          (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
          () => answer(response, 500, { status: 'metrics failed' }),
        )
      default:
        return answer(response, 404, { status: 'not found' })
    }
  }
  const server = oneRequestAtATime({}, { request: answerRequest })
  server.maxConnections = MAX_CONNECTIONS
  // Node's `closeAllConnections` leaves out those with requests that were sent ahead.
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host }, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    /** Marks the start-up as complete. @param optionalChecks of dependencies that it can do without for a while */
    readyWhen: (checks: ReadinessChecks, optionalChecks: ReadinessChecks = {}): void => {
      readiness = checks
      optional = optionalChecks
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
