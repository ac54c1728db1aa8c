import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { callbackify } from 'node:util'
import { LRUCache } from 'lru-cache'
import { Agent, buildConnector, type DiagnosticsChannel, errors, Pool } from 'undici'
import { filterReads, readAnswerHead } from './answer-head.ts'
import { type Connecting, createDial, type DialOptions } from './dial.ts'
import { createRenewingClient } from './renewing-client.ts'

/** `timeoutMs` also limits the TLS handshake. */
export interface ConnectionOptions extends DialOptions {
  /** Maximum number of connections to one endpoint. While they are replaced, as many again are open for up to 4 s. */
  readonly maxSockets: number
  /** The age at which a connection is replaced, in ms, so that a host that has moved is found. */
  readonly maxAgeMs?: number
}

const MAX_AGE_MS = 30_000

/** Servers usually close an idle connection after 5 s. Closing it earlier avoids most writes into a closing connection. */
const IDLE_MS = 4_000

/** https://undici.nodejs.org/#/docs/api/DiagnosticsChannel */
const SEND_HEADERS = 'undici:client:sendHeaders'

/** How long an endpoint that sent stray bytes gets a new connection for each delivery. */
const STRAYS_MS = 3_600_000
/** More endpoints than a worker has of that kind; 100 bytes each. */
const MAX_STRAYS = 10_000

const isTlsError = (error: NodeJS.ErrnoException): boolean => error.code?.startsWith('ERR_SSL_') ?? false

/** Undici, about bytes that arrive while no request waits for an answer. */
const isStray = ({ message }: Error): boolean => message === 'bad response'

export type Connections = ReturnType<typeof openConnections>

export function openConnections(options: ConnectionOptions) {
  const { maxSockets, timeoutMs, maxAgeMs = MAX_AGE_MS } = options
  const uses = new WeakMap<Socket, ReturnType<typeof observe>>()
  const strays = new LRUCache<string, true>({ max: MAX_STRAYS, ttl: STRAYS_MS })
  /** The connection that undici is being given. It writes the request that it connects for within the call. */
  let opening: Socket | undefined
  let tellUse: ((use: Use) => void) | undefined
  const onSendHeaders = (message: unknown): void => {
    const { socket } = message as DiagnosticsChannel.ClientSendHeadersMessage
    const use = uses.get(socket)
    if (use === undefined) return
    use.begin(socket !== opening)
    tellUse?.(use)
  }
  // undici shows which connection carries a request only on this channel.
  subscribe(SEND_HEADERS, onSendHeaders)
  /** The connections that are being made. */
  const connecting = new Set<Connecting & { readonly origin: string }>()
  /** With which connections have failed after they were open. */
  const ofOpen = new WeakSet<Error>()
  const dial = createDial(options)
  const secure = buildConnector({ timeout: timeoutMs, allowH2: false })

  /** Undici makes TLS, so that server name, certificate check and session are the same for direct connections and tunnels. */
  async function open(target: buildConnector.Options, own: Connecting): Promise<Socket> {
    const { hostname, protocol, port } = target
    const isTls = protocol === 'https:'
    const httpSocket = await dial(hostname, Number(port || (isTls ? 443 : 80)), own)
    if (!isTls) return httpSocket
    own.state = () => 'the TLS handshake has not ended'
    return new Promise((resolve, reject) => {
      secure({ ...target, httpSocket }, (error, socket) => (error === null ? resolve(socket) : reject(error)))
    })
  }

  const connect: buildConnector.connector = (target, callback) => {
    const origin = `${target.protocol}//${target.host}`
    const own = { origin, state: () => 'the look-up of the name has not ended' }
    connecting.add(own)
    // callbackify calls back outside of the promise, so that an error in the callback does not become an unhandled rejection.
    callbackify(open)(target, own, (error, socket) => {
      connecting.delete(own)
      if (error !== null) return callback(error, null)
      uses.set(socket, observe(socket))
      socket.on('error', (broken) => {
        ofOpen.add(broken)
        if (isStray(broken)) strays.set(origin, true)
      })
      opening = socket
      callback(null, socket)
      opening = undefined
    })
  }
  // No timeouts of undici: each attempt has its own deadline.
  const common = { connect, allowH2: false, headersTimeout: 0, bodyTimeout: 0 } as const
  const openClient: Pool.Options['factory'] = (origin, own) =>
    createRenewingClient(origin, own, { connect, maxAgeMs, idleMs: IDLE_MS })
  const openAgent = (its: Agent.Options, ofPools?: Pool.Options) =>
    new Agent({
      ...common,
      ...its,
      factory: (origin, own) => forgottenWhenUnused(new Pool(origin, Object.assign({}, own, ofPools))),
    })
  const times = { keepAliveTimeout: IDLE_MS, keepAliveMaxTimeout: IDLE_MS }
  const kept = openAgent({ connections: maxSockets, ...times }, { factory: openClient })
  const fresh = openAgent({ pipelining: 0 })
  return {
    /** Keeps idle connections open for a while. */
    kept,
    /** Opens a new connection for each request. */
    fresh,
    /** Call in `onRequestStart`, for the connection to which undici then writes the request. */
    whenWritten: (tell: (use: Use) => void): void => void (tellUse = tell),
    /** The endpoints that have lately sent something on a kept connection that was no answer. */
    strays,
    /** For a request that was never written: whether an open connection has failed with its error, on which it was the next. */
    unwrittenWith: (error: Error): 'unwritten' | undefined => (ofOpen.has(error) ? 'unwritten' : undefined),
    /** Why a request to this origin has no connection yet: the state of the oldest that is being made. Undefined: none is. */
    whyNotConnected: (origin: string): string | undefined =>
      [...connecting].find((one) => one.origin === origin)?.state(),
    close: async (): Promise<void> => {
      unsubscribe(SEND_HEADERS, onSendHeaders)
      await Promise.all([kept.destroy(), fresh.destroy()])
    },
  }
}

/** The connection to which a request was written, as the latest one finds it. */
export type Use = Readonly<Omit<ReturnType<typeof observe>, 'begin'>>

function observe(socket: Socket) {
  const head = readAnswerHead()
  let bytesBefore = 0
  const use = {
    /** It was open before. The server may have closed it meanwhile, as it closes one between requests. */
    isReused: false,
    /** The TLS alert that has arrived. In TLS 1.3 it comes after the handshake, and undici sees only the end of the connection. */
    alert: undefined as Error | undefined,
    /** No byte has arrived since. The server may have closed the connection because it was idle. */
    get isUnanswered(): boolean {
      return socket.bytesRead === bytesBefore
    },
    /** The status of the answer, if its status line has arrived, otherwise 0. */
    get status(): number {
      return head.status()
    },
    /** Call when a request is written. */
    begin(isReused: boolean): void {
      use.isReused = isReused
      bytesBefore = socket.bytesRead
      head.expectAnswer()
    },
  }
  filterReads(socket, head.pass)
  socket.on('error', (broken) => {
    if (isTlsError(broken)) use.alert ??= broken
  })
  return use
}

const SECOND_LOOK = new errors.InformationalError('the agent looks once more')

/**
 * Lets the agent forget an endpoint with its last connection, also after an aborted request. The agent looks when a
 * connection has closed, and undici takes the aborted request out of the queue just after that event, so that the pool seems
 * to have work and is kept for good. The event is repeated for a second look.
 */
const forgottenWhenUnused = (pool: Pool): Pool =>
  pool.on('disconnect', (origin, targets, error) => {
    if (error !== SECOND_LOOK) setImmediate(() => pool.emit('disconnect', origin, targets, SECOND_LOOK))
  })
