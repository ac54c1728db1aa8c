import { request as tlsRequest } from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { promisify } from 'node:util'
import type { AddressGuard } from '@switchhook/egress'
import { type Logger, startDeadline } from '@switchhook/runtime'
import type { EgressProxy } from '../egress-proxy.ts'
import { explainedError, isOurShortage, PROXY_FAILED } from '../policy/classify.ts'
import { addressText, type OpenSocket } from './dial.ts'
import { blocked } from './lookup.ts'

/** An import of this module would load all of Node's `fetch` at start, for its re-exports. */
const { request: plainRequest } = process.getBuiltinModule('node:http')

export interface TunnelOptions {
  readonly proxy: EgressProxy
  /** Vets every address before the proxy is asked for it. */
  readonly guard: Pick<AddressGuard, 'allows'>
  /** Looks up host names. The proxy never gets a name, because it would resolve the name again, to any address. */
  readonly lookup: LookupFunction
  /** Time limit of a tunnel, name look-up included. The proxy gets half of it to accept a connection. */
  readonly timeoutMs: number
  readonly log: Pick<Logger, 'warn'>
}

/** One line for each problem of the proxy in this time: while the proxy is away, every attempt meets it. */
const WARN_EVERY_MS = 60_000

/**
 * Tunnels through the proxy, with CONNECT (RFC 9110, section 9.3.6). If the proxy cannot reach an address, the next one of
 * the target is tried. Failures have the code that classifies the attempt: `PROXY_FAILED` if the proxy is at fault, and the
 * code of the network if it answers 5xx or not at all, because it may only pass on that the endpoint is away.
 */
export function createTunnels({ proxy, guard, lookup, timeoutMs, log }: TunnelOptions): OpenSocket {
  const find = promisify(lookup)
  const warnedAtMs = new Map<string, number>()

  function warn(problem: string, address: string, error: unknown): void {
    const nowMs = performance.now()
    if (nowMs < (warnedAtMs.get(problem) ?? -Infinity) + WARN_EVERY_MS) return
    warnedAtMs.set(problem, nowMs)
    log.warn('no connection through the egress proxy', {
      proxy: `${proxy.host}:${proxy.port}`,
      address,
      problem,
      ...(error !== undefined && { error }),
    })
  }

  return async ({ hostname, port }, connecting) => {
    const untilMs = performance.now() + timeoutMs
    const found = isIP(hostname) === 0 ? await find(hostname, { all: true }) : hostname
    const addresses = typeof found === 'string' ? [found] : found.map(({ address }) => address)
    const vetted = addresses.filter((address) => guard.allows(address))
    let failure: Error = blocked(hostname)
    for (const address of vetted) {
      const authority = addressText(address, port)
      connecting?.(() => `${authority}: no answer through the proxy`)
      try {
        return await connectThrough(proxy, authority, untilMs - performance.now())
      } catch (error) {
        if (!(error instanceof NoTunnel)) throw error
        warn(error.message, authority, error.cause)
        if (error.code === PROXY_FAILED || performance.now() >= untilMs) throw error
        failure = error
      }
    }
    throw failure
  }
}

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

/** @param authority address and port of the endpoint */
function connectThrough(
  { isTls, host, port, authorization }: EgressProxy,
  authority: string,
  timeoutMs: number,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const request = (isTls ? tlsRequest : plainRequest)({
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
    let isAccepted = false
    const fail = (problem: string, code: string): void => void request.destroy(new NoTunnel(problem, code))
    const deadlines = [
      startDeadline(timeoutMs / 2, () => isAccepted || fail('it accepted no connection in time', PROXY_FAILED)),
      startDeadline(timeoutMs, () => fail('it did not answer in time', 'ETIMEDOUT')),
    ]
    const stopDeadlines = (): void => deadlines.forEach((deadline) => deadline.stop())
    request.once('socket', (socket) => {
      socket.once(isTls ? 'secureConnect' : 'connect', () => (isAccepted = true))
    })
    request.once('connect', ({ statusCode = 0 }, socket: Socket, head) => {
      stopDeadlines()
      const isOpen = statusCode >= 200 && statusCode <= 299
      if (isOpen && head.length === 0) return resolve(socket.setNoDelay(true).setKeepAlive(true, 60_000))
      socket.destroy()
      if (!isOpen) return reject(refusal(statusCode))
      // Undici would drop the connection and open the next one for the same request, without end.
      reject(explainedError('HPE_SPOKE_FIRST', 'the endpoint sent something before the request, or before TLS'))
    })
    request.on('error', (error) => {
      stopDeadlines()
      const isClassified = error instanceof NoTunnel || isOurShortage(error)
      reject(isClassified ? error : new NoTunnel('it cannot be reached', PROXY_FAILED, { cause: error }))
    })
    request.end()
  })
}
