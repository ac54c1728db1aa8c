import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventually } from './eventually.ts'

/** The answer to one request; 204 by default. */
export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  readonly delayMs?: number
  /** hang: never answers. reset: resets the connection. endless: sends headers, then a body that never ends. */
  readonly instead?: 'hang' | 'reset' | 'endless'
}

/** One answer for all requests, a list of answers of which the last repeats, or a function. */
export type ReceiverScript =
  | Answer
  | readonly Answer[]
  | ((request: ReceivedRequest, index: number) => Answer | Promise<Answer>)

export interface ReceivedRequest {
  readonly method: string
  /** Includes the query. */
  readonly path: string
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Alternating names and values, exactly as sent. */
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  /** ms since 1970, when the body was complete. */
  readonly receivedAt: number
  /** The sender's port; requests over one kept-alive connection share it. */
  readonly remotePort: number
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** Starts an HTTP server on loopback that acts as a subscriber's endpoint, on a free port unless one is given. */
export async function startReceiver(
  script: ReceiverScript = {},
  options: { readonly port?: number; readonly host?: string } = {},
) {
  const received: ReceivedRequest[] = []
  const scripts = new Map<string, { readonly script: ReceiverScript; count: number }>()
  const others = new Map<string, number>()

  const nextAnswer = (request: ReceivedRequest): Answer | Promise<Answer> => {
    const own = scripts.get(request.path)
    if (own !== undefined) return pick(own.script, request, own.count++)
    const index = others.get(request.path) ?? 0
    others.set(request.path, index + 1)
    return pick(script, request, index)
  }

  const take = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await read(incoming)
    received.push(request)
    give(await nextAnswer(request), incoming, response)
  }
  const server = createServer((incoming, response) => {
    // The sender disconnected before its request was complete, so nothing was received.
    take(incoming, response).catch(() => response.destroy())
  })
  // The sender decides when to close idle connections; a receiver that closes first makes tests race.
  server.keepAliveTimeout = 60_000
  await once(server.listen(options.port ?? 0, options.host ?? '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo

  const requests = (path?: string): readonly ReceivedRequest[] =>
    path === undefined ? [...received] : received.filter((request) => request.path === path)

  return {
    port,
    url: (path = '/'): string => `http://127.0.0.1:${port}${path}`,
    /** Sets the script of one path and restarts its request count. Other paths keep the script of `startReceiver`. */
    answer: (path: string, own: ReceiverScript): void => void scripts.set(path, { script: own, count: 0 }),
    /** All requests so far, or those of one path, in order of arrival. */
    requests,
    /** Resolves with the requests once there are at least `count`; rejects after 30 s by default. */
    waitFor: (count: number, path?: string, options?: { readonly timeoutMs?: number }) =>
      eventually(() => {
        const found = requests(path)
        if (found.length >= count) return found
        throw new Error(`${found.length} of ${count} requests came${path === undefined ? '' : ` to ${path}`}`)
      }, options),
    /** Stops listening and drops every connection. */
    close: async (): Promise<void> => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function pick(script: ReceiverScript, request: ReceivedRequest, index: number): Answer | Promise<Answer> {
  if (typeof script === 'function') return script(request, index)
  if (!isList(script)) return script
  return script[Math.min(index, script.length - 1)] ?? {}
}

const isList = (script: Answer | readonly Answer[]): script is readonly Answer[] => Array.isArray(script)

async function read(incoming: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    rawHeaders: incoming.rawHeaders,
    body: Buffer.concat(chunks),
    receivedAt: Date.now(),
    remotePort: incoming.socket.remotePort ?? 0,
  }
}

function give(answer: Answer, incoming: IncomingMessage, response: ServerResponse): void {
  const act = (): void => {
    switch (answer.instead) {
      case 'hang':
        return
      case 'reset':
        return void incoming.socket.resetAndDestroy()
      case 'endless':
        return drip(response.writeHead(answer.status ?? 200, answer.headers))
      case undefined:
        return void response.writeHead(answer.status ?? 204, answer.headers).end(answer.body)
    }
  }
  if (answer.delayMs === undefined) return act()
  const timer = setTimeout(act, answer.delayMs)
  response.once('close', () => clearTimeout(timer))
}

function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write('still talking\n'), 10)
  response.once('close', () => clearInterval(timer))
}
