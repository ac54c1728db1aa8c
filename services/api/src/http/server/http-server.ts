import { randomUUID } from 'node:crypto'
import type { RequestListener, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { AppError, toProblem } from '@switchhook/contracts'
import { type ClientTimes, oneRequestAtATime, type RefusalStatus, startDeadline } from '@switchhook/runtime'
import { type ConnectionLimits, limitConnections } from '../limits/limit-connections.ts'

/** An import of this module would load all of Node's `fetch` at start, for its re-exports. */
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** Time limits for a client, in ms. */
const DEADLINES = {
  headersMs: 10_000,
  requestMs: 30_000,
  /** How long an idle connection stays open at shutdown, because a request may be on its way. */
  lingerMs: 2_000,
}

export type ClientDeadlines = Partial<typeof DEADLINES> & ClientTimes

/** Longer than the usual idle timeout of load balancers (60 s), so that the server never closes under a request. */
const KEEP_ALIVE_MS = 65_000

/** Time for unfinished requests at shutdown; well below any sensible SHUTDOWN_GRACE. */
const LAST_REQUESTS_MS = 5_000

export async function startHttpServer(
  port: number,
  listener: RequestListener,
  {
    host,
    deadlines,
    limits,
  }: {
    /** undefined: all addresses of this machine. */
    readonly host?: string | undefined
    readonly deadlines?: ClientDeadlines | undefined
    readonly limits?: ConnectionLimits
  } = {},
) {
  const { headersMs, requestMs, lingerMs, ...times } = { ...DEADLINES, ...deadlines }
  const server = oneRequestAtATime(
    {
      ...times,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.min(headersMs, requestMs) / 2,
    },
    {
      request: (request, response) => {
        ending.follow(request, response)
        requireTarget(listener)(request, response)
      },
      refusal: (status) => bytesOf(refusalOf(status)),
    },
  )
  if (limits !== undefined) limitConnections(server, limits)
  const ending = prepareClose(server, { lingerMs, unfinishedMs: Math.min(requestMs, LAST_REQUESTS_MS) })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host }, resolve)
  })
  return { port: (server.address() as AddressInfo).port, close: ending.close }
}

/** RFC 9112, section 3.2: a request with a bad target, or of HTTP/1.1 without `Host`, is answered 400. */
const requireTarget =
  (listener: RequestListener): RequestListener =>
  (request, response) => {
    const { headers: sent, httpVersion, url = '' } = request
    const hasHost = sent.host !== undefined || httpVersion === '1.0'
    // Express would answer without `observeRequests` if it cannot parse an absolute url.
    if (hasHost && (/^[/*]/.test(url) || URL.canParse(url))) return listener(request, response)
    const detail = hasHost ? 'The target of the request is not a valid url.' : 'The header Host is missing.'
    const error = new AppError('invalid-request', { detail })
    const { status, headers, body } = answerOf(error)
    response.writeHead(status, headers).end(body)
  }

/** Answers what never becomes a request: bytes that Node cannot parse, and CONNECT, which names no resource. */
function refusalOf(status: RefusalStatus) {
  if (status !== 405) return answerOf(new AppError('invalid-request', { status, detail: BAD_REQUESTS[status] }))
  const { headers, ...answer } = answerOf(new AppError('method-not-allowed'))
  return { ...answer, headers: { ...headers, Allow: 'GET, HEAD, POST, PATCH, DELETE' } }
}

/** A problem, after which the connection is closed. */
function answerOf(error: AppError) {
  const requestId = randomUUID()
  const problem = toProblem(error, requestId)
  const body = JSON.stringify(problem)
  const headers: Readonly<Record<string, string>> = {
    Connection: 'close',
    'Content-Type': 'application/problem+json',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
  }
  return { status: problem.status, headers, body }
}

const bytesOf = ({ status, headers, body }: ReturnType<typeof answerOf>): string => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n')
}

const BAD_REQUESTS = {
  400: 'The request is not valid HTTP/1.1.',
  408: 'The request took too long to arrive.',
  431: 'The header is too large.',
} as const

/**
 * `close` ends each connection after its next response, for at most `lingerMs`. Then it accepts no more connections,
 * and closes idle ones immediately and the others after their response: Node's own `close` keeps those that never carried a
 * request, and stops enforcing the deadlines of the others. Resolves once every request in flight is answered.
 * `follow` is called with each request.
 * @param unfinishedMs time for a client to finish sending its request
 */
function prepareClose(
  server: Server,
  { lingerMs, unfinishedMs }: Readonly<Record<'lingerMs' | 'unfinishedMs', number>>,
): { readonly follow: RequestListener; readonly close: () => Promise<void> } {
  /** The response that is in progress on each connection. */
  const connections = new Map<Socket, ServerResponse | undefined>()
  let isDraining = false
  let allClosed: (() => void) | undefined

  server.on('connection', (socket) => {
    connections.set(socket, undefined)
    socket.once('close', () => {
      connections.delete(socket)
      if (connections.size === 0) allClosed?.()
    })
  })
  const follow: RequestListener = ({ socket }, response) => {
    connections.set(socket, response)
    if (isDraining) response.setHeader('Connection', 'close')
    response.once('close', () => {
      if (connections.get(socket) === response) connections.set(socket, undefined)
      // An answer that had begun before did not say that the connection ends.
      if (isDraining) socket.destroySoon()
    })
  }

  const close = async (): Promise<void> => {
    isDraining = true
    for (const response of connections.values()) {
      if (response?.headersSent === false) response.setHeader('Connection', 'close')
    }
    if (connections.size > 0 && lingerMs > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      allClosed = resolve
      const deadline = startDeadline(lingerMs, resolve)
      await promise
      deadline.stop()
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    // Node would take an answer for idle that is complete, but not yet with the client.
    server.closeIdleConnections = () => {}
    server.close(() => resolve())
    for (const [socket, response] of connections) if (response === undefined) socket.destroy()
    const deadline = startDeadline(unfinishedMs, () => {
      for (const [socket, response] of connections) if (response?.req.complete !== true) socket.destroy()
    })
    await promise
    deadline.stop()
  }
  return { follow, close }
}
