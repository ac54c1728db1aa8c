import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { LookupFunction, Socket } from 'node:net'
import { callbackify } from 'node:util'
import type { AddressGuard } from '@switchhook/egress'
import { LRUCache } from 'lru-cache'
import { Agent, buildConnector, type DiagnosticsChannel, Pool } from 'undici'
import { BLOCKED_ADDRESS, codedError } from '../policy/classify.ts'
import { type AnswerHead, filterReads, readAnswerHead } from './answer-head.ts'
import { createDial, type OpenSocket } from './dial.ts'
import { createRenewingClient } from './renewing-client.ts'

export interface ConnectionOptions {
  /** Maximum number of connections to one endpoint. While they are replaced, as many again are open for up to 4 s. */
  readonly maxSockets: number
  /** Time limit for connecting, name look-up and TLS included. */
  readonly timeoutMs: number
  /** Checks the remote address of the open connection once more, so that only a vetted address is ever used. */
  readonly guard: Pick<AddressGuard, 'allows'>
  /** Looks up host names. Not called for a url that contains an address. */
  readonly lookup: LookupFunction
  /** Opens every connection through the operator's proxy. Absent: connections are direct. */
  readonly tunnel?: OpenSocket | undefined
  /** The age at which a connection is replaced, in ms, so that a host that has moved is found. */
  readonly maxAgeMs?: number
}

const MAX_AGE_MS = 30_000

/** Servers usually close an idle connection after 5 s. Closing it earlier avoids most writes into a closing connection. */
const IDLE_MS = 4_000

/** https://undici.nodejs.org/#/docs/api/DiagnosticsChannel */
const SEND_HEADERS = 'undici:client:sendHeaders'

interface Usage {
  readonly head: AnswerHead
  /**
   * While it is `opening`, undici may write the `first` request. Any later one finds it `reused`: the server may have closed it
   * meanwhile, as it closes one between requests.
   */
  phase: 'opening' | 'first' | 'reused'
  /** Bytes read from the socket before the last request. */
  bytesBefore: number
}

/** How the connection was used on which a request failed. */
export interface Use {
  readonly isReused: boolean
  /** No byte arrived since the request was written. The server may have closed the connection because it was idle. */
  readonly isUnanswered: boolean
  /** The status of the answer, if its status line arrived, otherwise 0. */
  readonly status: number
  /** The TLS alert that came before. In TLS 1.3 it arrives after the handshake, and undici sees only the end of the connection. */
  readonly alert: Error | undefined
}

/** How long an endpoint that sent stray bytes gets a new connection for each delivery. */
const STRAYS_MS = 3_600_000
/** More endpoints than a worker has of that kind; 100 bytes each. */
const MAX_STRAYS = 10_000

const isTlsError = (error: NodeJS.ErrnoException): boolean => error.code?.startsWith('ERR_SSL_') ?? false

/** Undici, about bytes that arrive while no request waits for an answer. */
const isStray = ({ message }: Error): boolean => message === 'bad response'

export type Connections = ReturnType<typeof openConnections>

export function openConnections(options: ConnectionOptions) {
  const { maxSockets, timeoutMs, guard, lookup, tunnel, maxAgeMs = MAX_AGE_MS } = options
  const failed = new WeakMap<Error, Use>()
  /** Undici calls a handler while it reads the answer, and does not tell it the connection. */
  let readingFrom: Usage | undefined
  const usages = new WeakMap<Socket, Usage>()
  const strays = new LRUCache<string, true>({ max: MAX_STRAYS, ttl: STRAYS_MS })
  const onSendHeaders = (message: unknown): void => {
    const { socket } = message as DiagnosticsChannel.ClientSendHeadersMessage
    const usage = usages.get(socket)
    if (usage === undefined) return
    usage.phase = usage.phase === 'opening' ? 'first' : 'reused'
    usage.bytesBefore = socket.bytesRead
    usage.head.expectAnswer()
  }
  // undici shows which connection carries a request only on this channel.
  subscribe(SEND_HEADERS, onSendHeaders)
  /** The connections that are being made. */
  const connecting = new Set<Connecting>()
  const connector = openThenSecure(
    tunnel ?? createDial({ lookup, timeoutMs }),
    buildConnector({ timeout: timeoutMs, allowH2: false }),
  )
  const connect: buildConnector.connector = (options, callback) => {
    const origin = originOf(options)
    const own: Connecting = { origin, state: () => 'the look-up of the name has not ended' }
    connecting.add(own)
    connector(options, own, (error, socket) => {
      connecting.delete(own)
      if (error !== null) return callback(error, null)
      // A tunnel ends at the proxy. It was opened to a vetted address.
      if (tunnel === undefined && !guard.allows(socket.remoteAddress ?? '')) {
        socket.destroy()
        return callback(codedError(BLOCKED_ADDRESS, `the address ${socket.remoteAddress} is blocked`), null)
      }
      const usage: Usage = { head: readAnswerHead(), phase: 'opening', bytesBefore: 0 }
      usages.set(socket, usage)
      filterReads(socket, (chunk) => {
        readingFrom = usage
        return usage.head.pass(chunk)
      })
      let alert: Error | undefined
      socket.on('error', (broken) => {
        if (isTlsError(broken)) alert ??= broken
        const isUnanswered = socket.bytesRead === usage.bytesBefore
        failed.set(broken, { isReused: usage.phase === 'reused', isUnanswered, status: usage.head.status(), alert })
        if (isStray(broken)) strays.set(origin, true)
      })
      callback(null, socket)
      // Undici writes the request that it connects for within the call.
      if (usage.phase === 'opening') usage.phase = 'reused'
    })
  }
  // No timeouts of undici: each attempt has its own deadline.
  const common = { connect, allowH2: false, headersTimeout: 0, bodyTimeout: 0 } as const
  const openClient: Pool.Options['factory'] = (origin, options) =>
    createRenewingClient(origin, options, { connect, maxAgeMs, idleMs: IDLE_MS })
  const kept = new Agent({
    ...common,
    connections: maxSockets,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    factory: (origin, options) =>
      forgottenWhenUnused(new Pool(origin, Object.assign({}, options, { factory: openClient }))),
  })
  const fresh = new Agent({
    ...common,
    pipelining: 0,
    factory: (origin, options) => forgottenWhenUnused(new Pool(origin, options)),
  })
  return {
    /** Keeps idle connections open for a while. */
    kept,
    /** Opens a new connection for each request. */
    fresh,
    /** How the connection was used that ended with this error. Undefined: it was never open. */
    useOf: (error: Error): Use | undefined => failed.get(error),
    /** Whether the answer that is being read came on a connection that was open before its request. For `onResponseStart`. */
    isReused: (): boolean => readingFrom?.phase === 'reused',
    /** Whether this endpoint has lately sent something on a kept connection that was no answer. */
    sendsStrays: (origin: string): boolean => strays.size > 0 && strays.has(origin),
    rememberStray: (origin: string): void => void strays.set(origin, true),
    forgetStrays: (origin: string): void => void strays.delete(origin),
    /** Why a request to this origin has no connection yet: the state of the oldest that is being made. Undefined: none is. */
    whyNotConnected: (origin: string): string | undefined =>
      [...connecting].find((one) => one.origin === origin)?.state(),
    close: async (): Promise<void> => {
      unsubscribe(SEND_HEADERS, onSendHeaders)
      await Promise.all([kept.destroy(), fresh.destroy()])
    },
  }
}

/**
 * Lets the agent forget an endpoint with its last connection, also after an aborted request. The agent looks when a
 * connection has closed, and undici takes the aborted request out of the queue just after that event, so that the pool seems
 * to have work and is kept for good. The event is repeated for a second look.
 */
function forgottenWhenUnused(pool: Pool): Pool {
  let isRepeated = false
  return pool.on('disconnect', (origin, targets, error) => {
    if (isRepeated) return
    setImmediate(() => {
      isRepeated = true
      pool.emit('disconnect', origin, targets, error)
      isRepeated = false
    })
  })
}

/** A connection that is being made. */
interface Connecting {
  readonly origin: string
  state: () => string
}

const originOf = ({ protocol, host }: buildConnector.Options): string => `${protocol}//${host}`

/**
 * Opens the socket with `open`, and lets undici make TLS on it, so that server name, certificate check and session are the
 * same for direct connections and tunnels.
 */
function openThenSecure(open: OpenSocket, secure: buildConnector.connector) {
  return (options: buildConnector.Options, connecting: Connecting, callback: buildConnector.Callback): void => {
    const { hostname, protocol, port } = options
    const isTls = protocol === 'https:'
    const opening = open({ hostname, port: Number(port || (isTls ? 443 : 80)) }, (state) => {
      connecting.state = state
    })
    // callbackify calls back outside of the promise, so that an error in the callback does not become an unhandled rejection.
    callbackify(() => opening)((error, socket) => {
      if (error !== null) return callback(error, null)
      if (!isTls) return callback(null, socket)
      connecting.state = () => 'the TLS handshake has not ended'
      secure({ ...options, httpSocket: socket }, callback)
    })
  }
}
