import type { ClientRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { isIP, isIPv4, type Socket } from 'node:net'
import { codedError, type Logger, startDeadline } from '@switchhook/runtime'
import { LRUCache } from 'lru-cache'
import type { EgressProxy } from '../egress-proxy.ts'
import { explainedError, isOurShortage, NO_LOCAL_PORT, PROXY_FAILED } from '../policy/classify.ts'
import { addressText, type Way } from './dial.ts'

/** An import of this module would load all of Node's `fetch` at start, for its re-exports. */
const { request: plainRequest } = process.getBuiltinModule('node:http')

export interface TunnelOptions {
  readonly proxy: EgressProxy
  /** Time limit of a tunnel. The proxy gets half of it to accept a connection. */
  readonly timeoutMs: number
  readonly log: Pick<Logger, 'warn'>
}

/** One line for each problem of the proxy in this time: while the proxy is away, every attempt meets it. */
const WARN_EVERY_MS = 60_000

/**
 * Tunnels through the proxy, with CONNECT (RFC 9110, section 9.3.6). The proxy never gets a name, because it would resolve the
 * name again, to any address. While it has no connection to an address, the next ones of the target are tried too. Failures
 * have the code that classifies the attempt: `PROXY_FAILED` if the proxy is at fault, and the code of the network if it answers
 * 5xx or not at all, because it may only pass on that the endpoint is away.
 */
export function createTunnels({ proxy, timeoutMs, log }: TunnelOptions): Way {
  const warned = new LRUCache<string, true>({ max: 100, ttl: WARN_EVERY_MS })

  function warn(problem: string, address: string, error?: unknown): void {
    if (warned.has(problem)) return
    warned.set(problem, true)
    log.warn('no connection through the egress proxy', {
      proxy: `${proxy.host}:${proxy.port}`,
      address,
      problem,
      ...(error !== undefined && { error }),
    })
  }

  return {
    open: (address, port, ended) => {
      const authority = addressText(address, port)
      const request = askForTunnel(proxy, authority)
      const acceptance = startDeadline(timeoutMs / 2, () => {
        request.destroy(new NoTunnel('it accepted no connection in time', PROXY_FAILED))
      })
      function fail(error: Error): void {
        acceptance.stop()
        if (error instanceof NoTunnel) warn(error.message, authority, error.cause)
        ended(error)
      }
      request.once('socket', (socket) => {
        socket.once(proxy.isTls ? 'secureConnect' : 'connect', () => acceptance.stop())
      })
      request.once('connect', ({ statusCode = 0 }, socket: Socket, head) => {
        const isOpen = statusCode >= 200 && statusCode <= 299
        if (isOpen && head.length === 0) return ended(null, socket)
        socket.destroy()
        // Undici would drop the connection and open the next one for the same request, without end.
        const early = 'the endpoint sent something before the request, or before TLS'
        fail(isOpen ? explainedError('HPE_SPOKE_FIRST', early) : refusal(statusCode))
      })
      request.on('error', (cause) => {
        const error = namingShortage(cause)
        const isClassified = error instanceof NoTunnel || isOurShortage(error)
        fail(isClassified ? error : new NoTunnel('it cannot be reached', PROXY_FAILED, { cause: error }))
      })
      request.end()
      return (isLate) => {
        acceptance.stop()
        if (isLate) warn('it did not answer in time', authority)
        // Its end is then no failure of the proxy.
        request.removeAllListeners('error').on('error', () => {})
        request.destroy()
      }
    },
    // Not a refusal by the proxy: it may allow another address.
    isFinal: (error) => !(error instanceof NoTunnel),
    explain: ({ message }) => message.replace(/^it/, 'the proxy'),
    unanswered: 'no answer through the proxy',
  }
}

/** @param authority address and port of the endpoint */
const askForTunnel = ({ isTls, host, port, authorization }: EgressProxy, authority: string): ClientRequest =>
  (isTls ? tlsRequest : plainRequest)({
    host,
    port,
    // Node.js would take it from `Host`, which is the endpoint's.
    servername: isIP(host) === 0 ? host : '',
    agent: false,
    method: 'CONNECT',
    path: authority,
    headers: {
      host: authority,
      connection: 'keep-alive',
      ...(authorization !== undefined && { 'proxy-authorization': authorization }),
    },
  })

class NoTunnel extends Error {
  override readonly name = 'NoTunnel'
  readonly code: string

  constructor(problem: string, code: string, options?: ErrorOptions) {
    super(problem, options)
    this.code = code
  }
}

function refusal(status: number): NoTunnel {
  if (status < 500) return new NoTunnel(`it answered ${status}`, PROXY_FAILED)
  return new NoTunnel(`it answered ${status}`, status === 504 ? 'ETIMEDOUT' : 'EHOSTUNREACH')
}

/**
 * Names the error after the shortage of local ports, if that is its cause: all deliveries share the proxy's address. The ports to
 * an endpoint are used up by its own deliveries alone, because it lets no connection be kept, so there it stays a failure of the
 * endpoint, and its breaker spares the others. Linux reports EADDRNOTAVAIL also on a host without IPv6.
 */
function namingShortage(error: NodeJS.ErrnoException): NodeJS.ErrnoException {
  const all: (NodeJS.ErrnoException & { readonly address?: string })[] =
    error instanceof AggregateError ? error.errors : [error]
  const without = all.filter(({ code }) => code === 'EADDRNOTAVAIL')
  const isShortage = without.length === all.length || without.some(({ address = '' }) => isIPv4(address))
  return isShortage ? codedError(NO_LOCAL_PORT, 'no local port is free', error) : error
}
