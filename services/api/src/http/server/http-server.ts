import { randomUUID } from 'node:crypto'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export interface HttpServer {
  readonly port: number
  /** Accepts no more connections. Resolves once every request in flight is answered. */
  close(): Promise<void>
}

/** Time limits for a client, in ms. */
export interface ClientDeadlines {
  readonly headersMs: number
  /** Headers and body. */
  readonly requestMs: number
}

const DEADLINES: ClientDeadlines = { headersMs: 10_000, requestMs: 30_000 }

/** Longer than the usual idle timeout of load balancers (60 s), so that the server never closes under a request. */
const KEEP_ALIVE_MS = 65_000

/** Time for unfinished requests at shutdown; well below any sensible SHUTDOWN_GRACE. */
const LAST_REQUESTS_MS = 5_000

export async function startHttpServer(options: {
  readonly port: number
  readonly listener: RequestListener
  readonly deadlines?: ClientDeadlines
}): Promise<HttpServer> {
  const { headersMs, requestMs } = options.deadlines ?? DEADLINES
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(headersMs, requestMs) / 2,
  })
  const drain = drainConnections(server, Math.min(requestMs, LAST_REQUESTS_MS))
  server.on('request', options.listener)
  server.on('clientError', answerBadClient)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        drain()
      }),
  }
}

/** Answers on the bare socket, because bytes that Node cannot parse never become a request. */
function answerBadClient(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, detail] = badClient(error.code)
  const requestId = randomUUID()
  const title = STATUS_CODES[status] ?? ''
  const body = JSON.stringify({ type: 'about:blank', title, status, code: 'invalid-request', detail, requestId })
  socket.end(
    [
      `HTTP/1.1 ${status} ${title}`,
      'Connection: close',
      'Content-Type: application/problem+json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      '',
      body,
    ].join('\r\n'),
  )
}

function badClient(code: string | undefined): [status: number, detail: string] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return [431, 'The header is too large.']
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'The request took too long to arrive.']
    default:
      return [400, 'The request is not valid HTTP/1.1.']
  }
}

interface InFlight {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/**
 * Returns a function that drains the server: it closes idle connections at once, and the others after their response.
 * Node's own `close` keeps connections that never carried a request, and stops enforcing the deadlines of the others.
 * @param unfinishedMs time for a client to finish sending its request
 */
function drainConnections(server: Server, unfinishedMs: number): () => void {
  const connections = new Map<Socket, InFlight | undefined>()
  let isDraining = false

  server.on('connection', (socket) => {
    connections.set(socket, undefined)
    socket.once('close', () => connections.delete(socket))
  })
  server.on('request', (request, response) => {
    const { socket } = request
    connections.set(socket, { request, response })
    if (isDraining) response.setHeader('Connection', 'close')
    response.once('close', () => {
      if (connections.get(socket)?.response === response) connections.set(socket, undefined)
    })
  })

  return () => {
    isDraining = true
    for (const [socket, inFlight] of connections) {
      if (inFlight === undefined) socket.destroy()
      else if (!inFlight.response.headersSent) inFlight.response.setHeader('Connection', 'close')
    }
    setTimeout(() => {
      for (const [socket, inFlight] of connections) if (inFlight?.request.complete !== true) socket.destroy()
    }, unfinishedMs).unref()
  }
}
