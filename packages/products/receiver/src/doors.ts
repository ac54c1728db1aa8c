import { type ReceiverAnswer, Refusal } from './answer.ts'

/** A request, as the receiver needs it. */
export interface HttpRequest {
  readonly method: string
  readonly header: (name: string) => string | null
  /** The bytes as they arrived, as text. @throws Refusal */
  readonly body: () => Promise<string>
}

type Receive = (request: HttpRequest) => Promise<ReceiverAnswer>

/** What the receiver needs of an `IncomingMessage`, or of the request of Express or Next. */
export interface NodeRequest extends AsyncIterable<unknown> {
  readonly method?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly readableEnded: boolean
  readonly body?: unknown
  readonly rawBody?: unknown
}

export interface NodeResponse {
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(body?: string): unknown
}

interface FastifyRequest {
  readonly headers: NodeRequest['headers']
  readonly body: unknown
}

interface FastifyReply {
  code(status: number): FastifyReply
  type(type: string): FastifyReply
  send(body?: unknown): unknown
}

type FastifyParser = (request: unknown, body: string, done: (error: Error | null, body?: unknown) => void) => void

/** What the receiver needs of a Fastify instance. */
export interface FastifyInstance {
  removeContentTypeParser(type: string): unknown
  addContentTypeParser(type: string, options: { parseAs: 'string'; bodyLimit: number }, parser: FastifyParser): unknown
  post(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown
}

const MAX_BODY_BYTES = 4 * 1_024 * 1_024
const TEXT = 'text/plain; charset=utf-8'

const parsed = (remedy: string): Refusal =>
  new Refusal(500, `The body was read before the receiver got it, so its signature cannot be verified. ${remedy}`)

export const fetchDoor =
  (receive: Receive) =>
  async (request: Request): Promise<Response> => {
    const { status, reason } = await receive({
      method: request.method,
      header: (name) => request.headers.get(name),
      body: async () => {
        if (request.bodyUsed) throw parsed('Call receiver.fetch(request) first.')
        if (Number(request.headers.get('content-length')) > MAX_BODY_BYTES) throw tooLarge()
        return textOf(request.body ?? [])
      },
    })
    return new Response(reason ?? null, { status, headers: reason ? { 'content-type': TEXT } : {} })
  }

export const nodeDoor =
  (receive: Receive) =>
  async (request: NodeRequest, response: NodeResponse): Promise<void> => {
    const { status, reason } = await receive({
      method: request.method ?? '',
      header: headerOf(request),
      body: () => bodyOf(request),
    })
    response.statusCode = status
    // Node stops reading a body that was left early, and with it the next request of the connection.
    if (status === 413) response.setHeader('connection', 'close')
    if (reason) response.setHeader('content-type', TEXT)
    response.end(reason)
  }

/** A plugin with one route. Its parser leaves the bodies of other routes alone. */
export const fastifyDoor =
  (receive: Receive) =>
  (instance: FastifyInstance, _options: unknown, done: () => void): void => {
    instance.removeContentTypeParser('application/json')
    instance.addContentTypeParser(
      'application/json',
      { parseAs: 'string', bodyLimit: MAX_BODY_BYTES },
      (_request, body, next) => next(null, body),
    )
    instance.post('/', async (request, reply) => {
      const { status, reason } = await receive({
        method: 'POST',
        header: headerOf(request),
        body: async () => (typeof request.body === 'string' ? request.body : ''),
      })
      return reply.code(status).type(TEXT).send(reason)
    })
    done()
  }

const headerOf =
  ({ headers }: Pick<NodeRequest, 'headers'>) =>
  (name: string): string | null => {
    const value = headers[name]
    return typeof value === 'string' ? value : null
  }

const tooLarge = (): Refusal => new Refusal(413, 'The body is larger than 4 MB.')

async function bodyOf(request: NodeRequest): Promise<string> {
  // express.raw() and express.text() keep the bytes in `body`, some platforms in `rawBody`.
  for (const given of [request.rawBody, request.body]) {
    if (typeof given === 'string') return given
    if (given instanceof Uint8Array) return new TextDecoder('utf-8', { ignoreBOM: true }).decode(given)
  }
  if (request.readableEnded) {
    throw parsed(
      'Express: put app.post(path, receiver.node) above app.use(express.json()). ' +
        'Next.js: export const config = { api: { bodyParser: false } }. Fastify: register receiver.fastify.',
    )
  }
  return textOf(request as AsyncIterable<Uint8Array>)
}

/** Reads no more than the limit, because a body without a length can be endless: leaving the loop cancels the stream. */
async function textOf(chunks: AsyncIterable<Uint8Array> | readonly Uint8Array[]): Promise<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let body = ''
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) throw tooLarge()
    body += decoder.decode(chunk, { stream: true })
  }
  return body + decoder.decode()
}
