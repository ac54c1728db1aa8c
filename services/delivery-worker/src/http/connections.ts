import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { LookupFunction, Socket } from 'node:net'
import { callbackify } from 'node:util'
import type { AddressGuard } from '@switchhook/egress'
import { Agent, buildConnector, type DiagnosticsChannel } from 'undici'
import { BLOCKED_ADDRESS, codedError } from '../policy/classify.ts'
import { type ContinueFilter, createContinueFilter, filterReads } from './skip-continue.ts'
import type { OpenTunnel } from './tunnel.ts'

export interface ConnectionOptions {
  /** Maximum number of connections to one endpoint. */
  readonly maxSockets: number
  /** Time limit for connecting, name look-up and TLS included. */
  readonly timeoutMs: number
  /** Checks the remote address of the open connection once more, so that only a vetted address is ever used. */
  readonly guard: Pick<AddressGuard, 'allows'>
  /** Looks up host names. Not called for a url that contains an address. */
  readonly lookup: LookupFunction
  /** Opens every connection through the operator's proxy. Absent: connections are direct. */
  readonly tunnel?: OpenTunnel | undefined
}

/** Servers usually close an idle connection after 5 s. Closing it earlier avoids most writes into a closing connection. */
const IDLE_MS = 4_000

/** https://undici.nodejs.org/#/docs/api/DiagnosticsChannel */
const SEND_HEADERS = 'undici:client:sendHeaders'

interface Usage {
  requests: number
  /** Bytes read from the socket before the last request. */
  bytesBefore: number
  readonly answers: ContinueFilter
}

export type Connections = ReturnType<typeof openConnections>

export function openConnections(options: ConnectionOptions) {
  const { maxSockets, timeoutMs, guard, lookup, tunnel } = options
  const stale = new WeakSet<Error>()
  const usages = new WeakMap<Socket, Usage>()
  const noteRequest = (message: unknown): void => {
    const { socket } = message as DiagnosticsChannel.ClientSendHeadersMessage
    const usage = usages.get(socket)
    if (usage === undefined) return
    usage.requests += 1
    usage.bytesBefore = socket.bytesRead
    usage.answers.expectAnswer()
  }
  // undici shows which connection carries a request only on this channel.
  subscribe(SEND_HEADERS, noteRequest)
  const direct = buildConnector({ timeout: timeoutMs, lookup, allowH2: false })
  const connector = tunnel === undefined ? direct : tunnelled(tunnel, direct)
  const connect: typeof connector = (options, callback) => {
    connector(options, (error, socket) => {
      if (error !== null) return callback(error, null)
      // A tunnel ends at the proxy. It was opened to a vetted address.
      if (tunnel === undefined && !guard.allows(socket.remoteAddress ?? '')) {
        socket.destroy()
        return callback(codedError(BLOCKED_ADDRESS, `the address ${socket.remoteAddress} is blocked`), null)
      }
      const usage: Usage = { requests: 0, bytesBefore: 0, answers: createContinueFilter() }
      usages.set(socket, usage)
      filterReads(socket, usage.answers)
      socket.on('error', (broken) => {
        if (usage.requests > 1 && socket.bytesRead === usage.bytesBefore) stale.add(broken)
      })
      callback(null, socket)
    })
  }
  // No timeouts of undici: each attempt has its own deadline.
  const common = { connect, allowH2: false, headersTimeout: 0, bodyTimeout: 0 } as const
  const kept = new Agent({
    ...common,
    connections: maxSockets,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
  })
  const fresh = new Agent({ ...common, pipelining: 0 })
  return {
    /** Keeps idle connections open for a while. */
    kept,
    /** Opens a new connection for each request. */
    fresh,
    /** Whether a reused connection broke before the first byte of an answer. The server may have closed it because it was idle. */
    brokeOnReuse: (error: Error) => stale.has(error),
    close: async (): Promise<void> => {
      unsubscribe(SEND_HEADERS, noteRequest)
      await Promise.all([kept.destroy(), fresh.destroy()])
    },
  }
}

/** TLS is made through the tunnel, by undici itself, so that server name and certificate check are those of a direct connection. */
function tunnelled(open: OpenTunnel, direct: buildConnector.connector): buildConnector.connector {
  // callbackify calls back outside of the promise, so that an error in the callback does not become an unhandled rejection.
  const openThenCall = callbackify(open)
  return (options, callback) => {
    const { hostname, protocol, port } = options
    const isTls = protocol === 'https:'
    openThenCall({ hostname, port: Number(port || (isTls ? 443 : 80)) }, (error, socket) => {
      if (error !== null) callback(error, null)
      else if (isTls) direct({ ...options, httpSocket: socket }, callback)
      else callback(null, socket)
    })
  }
}
