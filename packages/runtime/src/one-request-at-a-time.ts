import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { startDeadline } from './deadline.ts'
import { endIfUnread } from './unread-answer.ts'

/** An import of this module would load all of Node's `fetch` at start, for its re-exports: a fifth of a service's start. */
const { createServer, IncomingMessage: NodeRequest } = process.getBuiltinModule('node:http')

interface ServerListeners {
  /** Also gets requests without `Host` or with an unknown `Expect`, which Node would answer without a body. */
  readonly request: RequestListener
  /** Gets a CONNECT. Without it, the connection is closed. */
  readonly connect?: (request: IncomingMessage, socket: Duplex) => void
  /** Gets the errors of Node's `clientError`. Without it, Node answers. */
  readonly clientError?: (error: ClientError, socket: Duplex) => void
}

type ClientError = Error & { readonly code?: string }

interface InProgress {
  readonly response: ServerResponse
  /** The client has sent more, without awaiting the answer. */
  isFollowed: boolean
}

/** Time for a client to send the rest of a body that was answered before its end. */
const REST_MS = 5_000

/** How long a client may take nothing of an answer that is complete. */
const UNREAD_MS = 30_000

/** Where Node listens to a connection for an answer in progress, until the connection is upgraded. */
const EVENTS_OF_ANSWERS = ['drain', 'timeout', 'error', 'close'] as const

/**
 * A server that carries one request of a connection at a time. A client that sends more before it has the answer (pipelines)
 * gets this answer, then the connection ends, and the client repeats the rest (RFC 9112, section 9.3.2).
 *
 * Node would parse all that it has read, 64 KB or 2,400 requests, and start each of them, before anything else runs. Only an
 * upgrade to another protocol makes it stop. So a second request poses as one: Node then parses nothing more of the connection.
 */
export function oneRequestAtATime(
  { unreadMs = UNREAD_MS, ...options }: ServerOptions & { readonly unreadMs?: number },
  listeners: ServerListeners,
): Server {
  const connections = new WeakMap<Duplex, InProgress>()
  const { clientError, connect = (_request, socket) => void socket.destroy() } = listeners

  class Request extends NodeRequest {
    /** Lets the connection serve the answer in progress again. */
    readonly afterUpgrade?: () => void

    constructor(socket: Socket) {
      super(socket)
      if (!connections.has(socket)) return
      Object.defineProperty(this, 'upgrade', { get: () => true, set: () => {} })
      this.afterUpgrade = keepListeners(socket)
    }
  }

  const server = createServer({
    ...options,
    requireHostHeader: false,
    IncomingMessage: Request,
    // A request for a real upgrade is answered like any other.
    shouldUpgradeCallback: ({ socket }) => connections.has(socket),
  })
  const begin: RequestListener = (request, response) => {
    const { socket } = request
    const current: InProgress = { response, isFollowed: false }
    connections.set(socket, current)
    endIfUnread(response, socket, unreadMs)
    response.once('close', () => {
      const hasChunksLeft = !request.complete && request.headers['transfer-encoding'] !== undefined
      // Stays among the connections, so that no further request of it begins.
      if (hasChunksLeft && !current.isFollowed) return discardRest(socket)
      connections.delete(socket)
      if (current.isFollowed) socket.destroySoon()
    })
    // Node drops what it has read after a request for an upgrade, also of one that is answered like any other.
    if (request.headers.upgrade !== undefined) response.setHeader('Connection', 'close')
    listeners.request(request, response)
  }
  const endAfterAnswer = (current: InProgress): void => {
    current.isFollowed = true
    if (!current.response.headersSent) current.response.setHeader('Connection', 'close')
  }
  const onUpgrade = (request: InstanceType<typeof Request>, socket: Duplex): void => {
    const current = connections.get(socket)
    if (current === undefined) return connect(request, socket)
    request.afterUpgrade?.()
    endAfterAnswer(current)
    // What follows is discarded: bytes that a connection has not read when it ends can cost the client its answer.
    socket.resume()
  }
  server.on('request', begin).on('checkExpectation', begin).on('upgrade', onUpgrade).on('connect', onUpgrade)
  if (clientError !== undefined) {
    server.on('clientError', (error: ClientError, socket) => {
      const current = connections.get(socket)
      const isAfterRequest = current?.response.req.complete === true && error.code?.startsWith('HPE_')
      if (isAfterRequest) endAfterAnswer(current)
      else clientError(error, socket)
    })
  }
  return server
}

/**
 * Ends a connection whose client still sends a chunked body. To parse chunks of one byte costs far more than to read them. A
 * client may read the answer only after it has sent all, so the rest is read.
 */
function discardRest(socket: Socket): void {
  // The first listener is Node's parser.
  socket.removeAllListeners('data').on('data', () => {})
  socket.end()
  const deadline = startDeadline(REST_MS, () => socket.destroy())
  socket.once('close', () => deadline.stop())
}

/** @returns adds those listeners again that were removed meanwhile */
function keepListeners(socket: Socket): () => void {
  const kept = EVENTS_OF_ANSWERS.map((event) => ({ event, listeners: socket.listeners(event) as (() => void)[] }))
  return () => {
    for (const { event, listeners } of kept) {
      for (const listener of listeners) if (!socket.listeners(event).includes(listener)) socket.on(event, listener)
    }
  }
}
