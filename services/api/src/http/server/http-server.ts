import { randomUUID } from 'node:crypto'
import { createServer, type RequestListener, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { drainConnections } from './drain-connections.ts'

export interface HttpServer {
  readonly port: number
  /** Takes no more connections; resolves when every request in flight is answered. */
  close(): Promise<void>
}

/** How long a client may take, in ms. */
export interface ClientDeadlines {
  readonly headersMs: number
  /** Headers and body together. */
  readonly requestMs: number
}

const DEADLINES: ClientDeadlines = { headersMs: 10_000, requestMs: 30_000 }

/** Longer than the idle time of the usual load balancers (60 s), so that it is never us who close under a request. */
const KEEP_ALIVE_MS = 65_000

/** Well within every sensible SHUTDOWN_GRACE. */
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

/** What Node could not parse never becomes a request: it is answered here, on the bare socket. */
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
      return [431, 'The header is too large']
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'The request took too long to arrive']
    default:
      return [400, 'Not HTTP/1.1']
  }
}
