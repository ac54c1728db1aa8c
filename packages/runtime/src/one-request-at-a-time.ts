import type { RequestListener, Server, ServerOptions, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { startDeadline } from './deadline.ts'

/** An import of this module would load all of Node's `fetch` at start, for its re-exports: a fifth of a service's start. */
const { createServer, IncomingMessage: NodeRequest, STATUS_CODES } = process.getBuiltinModule('node:http')

interface ServerListeners {
  /** Also gets requests without `Host` or with an unknown `Expect`, which Node would answer without a body. */
  readonly request: RequestListener
  /** @returns the bytes that answer a CONNECT (405), or what never becomes a request; the connection ends after them */
  readonly refusal?: (status: RefusalStatus) => string
}

/** For tests. */
export interface ClientTimes {
  readonly unreadMs?: number
  readonly restMs?: number
}

export type RefusalStatus = 400 | 405 | 408 | 431

/** By Node's code of the error. */
const STATUS_OF_ERROR: Readonly<Record<string, RefusalStatus>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

const bareRefusal = (status: RefusalStatus): string =>
  `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`

interface InProgress {
  readonly response: ServerResponse
  /** The client has sent more, without awaiting the answer. */
  isFollowed: boolean
}

/** How long a connection that has ended waits for the client to end it, too. */
const REST_MS = 5_000

/** How long a client may take nothing of an answer that is complete. */
const UNREAD_MS = 30_000

/** Where Node listens to a connection for an answer in progress, until the connection is upgraded. */
const EVENTS_OF_ANSWERS = ['drain', 'timeout', 'error', 'close'] as const

/**
 * A server that carries one request of a connection at a time. If a client sends more before the answer is complete
 * (pipelines), the connection ends after the answer, and the client repeats the rest (RFC 9112, section 9.3.2). So a listener
 * ends its response with the last byte: a client that knows the length may send its next request before a later `end`.
 *
 * Node would parse all that it has read, 64 KB or 2,400 requests, and start each of them, before anything else runs. Only an
 * upgrade to another protocol makes it stop. So a second request poses as one: Node then parses nothing more of the connection.
 * What follows stays unread until the answer is complete. A disconnect behind it is noticed when the server writes.
 */
export function oneRequestAtATime(
  { unreadMs = UNREAD_MS, restMs = REST_MS, ...options }: ServerOptions & ClientTimes,
  listeners: ServerListeners,
): Server {
  const connections = new WeakMap<Duplex, InProgress>()
  const { refusal = bareRefusal } = listeners

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
    // To parse chunks of one byte costs far more than to read them.
    const isChunked = request.headers['transfer-encoding'] !== undefined
    const hasChunksLeft = (): boolean => isChunked && !request.complete
    if (isChunked) sayIfLast(response, hasChunksLeft)
    response.once('close', () => {
      // Such a connection stays in the map, so that no further request of it begins.
      if (hasChunksLeft() || current.isFollowed) socket.destroySoon()
      else connections.delete(socket)
    })
    // Node drops what it has read after a request for an upgrade, also of one that is answered like any other.
    if (request.headers.upgrade !== undefined) response.setHeader('Connection', 'close')
    listeners.request(request, response)
  }
  const endAfterAnswer = (socket: Duplex, current: InProgress): void => {
    current.isFollowed = true
    if (!current.response.headersSent) current.response.setHeader('Connection', 'close')
    // At each read, because a listener that reads the body of its request resumes the connection.
    readWith(socket, () => socket.pause())
  }
  const onUpgrade = (request: InstanceType<typeof Request>, socket: Duplex): void => {
    const current = connections.get(socket)
    if (current === undefined) {
      socket.on('error', () => {})
      return endWith(refusal(405), socket, restMs)
    }
    request.afterUpgrade?.()
    endAfterAnswer(socket, current)
  }
  server.on('request', begin).on('checkExpectation', begin).on('upgrade', onUpgrade).on('connect', onUpgrade)
  // Node ends a connection after its last answer with this function, whatever the client has sent meanwhile.
  server.on('connection', (socket) => {
    socket.destroySoon = () => endWith('', socket, restMs)
  })
  server.on('clientError', (error: Error & { readonly code?: string }, socket) => {
    if (!socket.writable) return void socket.destroy()
    const current = connections.get(socket)
    const isAnswering = current !== undefined && (current.response.req.complete || current.response.headersSent)
    if (isAnswering) endAfterAnswer(socket, current)
    else endWith(refusal(STATUS_OF_ERROR[error.code ?? ''] ?? 400), socket, restMs)
  })
  return server
}

/** A client that is not told so sends its next request on a connection that is ending, and loses it. */
function sayIfLast(response: ServerResponse, isLast: () => boolean): void {
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse
  response.writeHead = (...args: unknown[]) => {
    if (isLast()) response.setHeader('Connection', 'close')
    return writeHead(...args)
  }
}

/**
 * Ends a connection. A client may read the answer only after it has sent all, and bytes that a connection has not read when
 * it closes can cost the client the answer (RFC 9112, section 9.6). So the rest is read, but not parsed.
 */
function endWith(bytes: string, socket: Duplex, restMs: number): void {
  if (!socket.writable) return
  readWith(socket, () => {})
  socket.end(bytes)
  const deadline = startDeadline(restMs, () => socket.destroy())
  socket.once('close', () => deadline.stop())
}

/** Replaces Node's parser as the reader of a connection. */
function readWith(socket: Duplex, onData: () => void): void {
  // The first listener is Node's parser.
  socket.removeAllListeners('data').on('data', onData)
  // A parser that stopped reading, because nothing reads the body, has left a read open. An empty push ends it.
  socket.push('')
  socket.resume()
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

/**
 * Disconnects a client that takes nothing of an answer for `ms` (at most twice this) once the answer is complete: answers
 * that are not read would fill the memory. Node's own timeout of a connection begins anew with each byte that the client
 * sends.
 */
function endIfUnread(response: ServerResponse, socket: Socket, ms: number): void {
  response.once('prefinish', () => {
    let left = unsentBytes(socket)
    if (left === 0) return
    const check = (): void => {
      const before = left
      left = unsentBytes(socket)
      if (left === before) return void socket.destroy()
      deadline = startDeadline(ms, check)
    }
    let deadline = startDeadline(ms, check)
    response.once('close', () => deadline.stop())
  })
}

/** Only Node's handle, which is no public interface, knows how much of a write in progress is left. */
function unsentBytes(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly writeQueueSize: number } | null }
  return socket.writableLength + (handle?.writeQueueSize ?? 0)
}
