import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import type { Delivery, Outcome } from '@switchhook/contracts'
import type { AddressGuard } from '@switchhook/egress'
import axios, { type AxiosResponse, isAxiosError } from 'axios'
import { classifyError, classifyStatus } from './classify.ts'

export interface PostOptions {
  /** Deadline of the whole attempt: name look-up, connection, TLS, sending, and the status line of the answer. */
  readonly timeoutMs: number
  /** Most sockets that are open at once, to one endpoint or in all. */
  readonly maxSockets: number
  /** An address in the url itself is not looked up, and has to be judged before. */
  readonly guard: Pick<AddressGuard, 'allowsHost'>
  /** Finds the addresses of a host name. */
  readonly lookup: LookupFunction
}

export interface PostClient {
  /** Makes one attempt. Whatever the endpoint does is an Outcome; only trouble of our own is thrown. */
  post(delivery: Delivery, attempt: number): Promise<Outcome>
  close(): void
}

/** Below the usual 5 s after which servers close an idle connection, so that we rarely write into a closing one. */
const IDLE_SOCKET_MS = 4_000
/** How much of an answer's body is read, and for how long, to keep its connection; then the connection is dropped. */
const MAX_ANSWER_BYTES = 4_096
const MAX_ANSWER_MS = 1_000

/** Sends deliveries as the specification's "Delivery request" says. Redirects are never followed, proxies never used. */
export function createPostClient({ timeoutMs, maxSockets, guard, lookup }: PostOptions): PostClient {
  const pooled = {
    keepAlive: true,
    scheduling: 'lifo',
    timeout: IDLE_SOCKET_MS,
    maxSockets,
    maxTotalSockets: maxSockets,
    lookup,
  } as const
  const agents = { httpAgent: new http.Agent(pooled), httpsAgent: new https.Agent(pooled) }
  const fresh = { httpAgent: new http.Agent({ lookup }), httpsAgent: new https.Agent({ lookup }) }
  const client = axios.create({
    adapter: 'http',
    transport: { request },
    responseType: 'stream',
    // The body goes out and the answer comes in as bytes: axios would trim a JSON string and inflate an answer.
    transformRequest: [],
    decompress: false,
    maxRedirects: 0,
    proxy: false,
    maxBodyLength: Number.POSITIVE_INFINITY,
    validateStatus: () => true,
  })

  async function post(delivery: Delivery, attempt: number): Promise<Outcome> {
    if (!isWebUrl(delivery.url)) return { kind: 'unreachable', reason: 'unusable-url' }
    if (!guard.allowsHost(new URL(delivery.url).hostname)) return { kind: 'unreachable', reason: 'blocked' }
    const signal = AbortSignal.timeout(timeoutMs)
    const send = (connections: typeof agents): Promise<AxiosResponse<Readable>> =>
      client.post<Readable>(delivery.url, delivery.body, {
        ...connections,
        signal,
        headers: headersOf(delivery, attempt),
      })
    try {
      const answer = await send(agents).catch((error: unknown) => {
        if (!isStaleSocket(error) || signal.aborted) throw error
        return send(fresh)
      })
      discard(answer.data)
      return classifyStatus(answer.status)
    } catch (error) {
      return classifyError(error, signal.aborted)
    }
  }

  return {
    post,
    close: () => {
      for (const agent of [...Object.values(agents), ...Object.values(fresh)]) agent.destroy()
    },
  }
}

/** An endpoint that switches protocols has not answered; axios would wait for it until the deadline. */
function request(options: https.RequestOptions, onAnswer: (answer: http.IncomingMessage) => void): http.ClientRequest {
  const sent = (options.protocol === 'https:' ? https : http).request(options, onAnswer)
  return sent.on('upgrade', (_answer, socket) => {
    socket.destroy()
    // Not by destroying the request: after an upgrade its socket no longer reports to it.
    sent.emit('error', Object.assign(new Error('the endpoint switches protocols'), { code: 'HPE_SWITCHED_PROTOCOLS' }))
  })
}

/** What was accepted once may have become unusable since, by a stricter version of ours. */
const isWebUrl = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)

/** Specification, "Delivery request". No compressed answers: nobody reads them, and a small one can be huge inside. */
function headersOf(delivery: Delivery, attempt: number): Record<string, string> {
  return {
    'Content-Type': 'application/json; charset=utf-8',
    Accept: '*/*',
    'Accept-Encoding': 'identity',
    'User-Agent': 'Switchhook/1',
    'X-SVC-Event': delivery.eventType,
    'X-SVC-Delivery': delivery.deliveryId,
    'X-SVC-Attempt': String(attempt),
  }
}

/**
 * The server closed an idle connection just as we wrote into it: the endpoint has not failed, so the same attempt goes
 * out once more on a connection of its own.
 */
function isStaleSocket(error: unknown): boolean {
  if (!isAxiosError(error) || error.response !== undefined) return false
  const request: unknown = error.request
  return (
    request instanceof http.ClientRequest &&
    request.reusedSocket &&
    (error.code === 'ECONNRESET' || error.code === 'EPIPE')
  )
}

/** The status line has decided. A short body is read away so that its connection can be used again; a long one is cut. */
function discard(body: Readable): void {
  let bytes = 0
  const timer = setTimeout(() => body.destroy(), MAX_ANSWER_MS)
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) body.destroy()
  })
  body.on('close', () => clearTimeout(timer))
  // What breaks now breaks after the answer and changes nothing; axios reports the deadline so, too, and closes nothing.
  body.on('error', () => body.destroy())
}
