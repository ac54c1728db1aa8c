import { setTimeout as sleep } from 'node:timers/promises'
import { answerWithin } from '@switchhook/runtime'
import { type Dispatcher, Pool } from 'undici'
import { parseJson } from './ari-model.ts'

/** A request that got no answer. Asterisk may have received it. */
export class AriUnavailable extends Error {
  override readonly name = 'AriUnavailable'
}

export interface AriServer {
  /** Of Asterisk's HTTP server, with its prefix if it has one: `https://pbx.example:8089`. */
  readonly url: URL
  readonly user: string
  readonly password: string
  /** PEM of the certificate authority; null: the system's. */
  readonly ca: string | null
}

export type Query = Readonly<Record<string, string>>

export type AriClient = ReturnType<typeof createAriClient>

const CONNECTIONS = 8
const RETRY_PAUSE_MS = 20
const CONNECT_WITHIN_MS = 3_000
/** From the request to the end of its answer. It includes the wait for one of the connections. */
const ANSWER_WITHIN_MS = 5_000

export const authorizationOf = ({ user, password }: AriServer): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

/** Named, so that NODE_TLS_REJECT_UNAUTHORIZED=0 does not turn the check off. */
export const verifiedBy = ({ ca }: AriServer) => ({ rejectUnauthorized: true, ...(ca !== null && { ca }) })

export function createAriClient(server: AriServer) {
  const prefix = server.url.pathname.replace(/\/$/, '')
  const pool = new Pool(server.url.origin, {
    connections: CONNECTIONS,
    connect: { timeout: CONNECT_WITHIN_MS, ...verifiedBy(server) },
    // `send` limits the whole request.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const authorization = authorizationOf(server)

  async function attempt(
    options: Dispatcher.RequestOptions,
    retries: number,
  ): Promise<{ response: Dispatcher.ResponseData; text: string }> {
    try {
      const response = await pool.request(options)
      return { response, text: await response.body.text() }
    } catch (error) {
      // Each kept connection fails once after the link was cut. A GET can be repeated.
      if (options.method !== 'GET' || !isReset(error) || retries === 0) throw error
      await sleep(RETRY_PAUSE_MS)
      return attempt(options, retries - 1)
    }
  }

  async function send(options: Dispatcher.RequestOptions) {
    const givenUp = new AbortController()
    try {
      const answer = attempt({ ...options, signal: givenUp.signal }, CONNECTIONS)
      return await answerWithin(ANSWER_WITHIN_MS, answer, `no answer within ${ANSWER_WITHIN_MS / 1_000} s`)
    } catch (cause) {
      // A request that waits for a connection would otherwise be sent once a hanging Asterisk answers again.
      givenUp.abort(cause)
      throw new AriUnavailable(`Asterisk did not answer ${options.method}`, { cause })
    }
  }

  return {
    /**
     * Resolves to any answer, refusals included. `body` undefined: the answer has none.
     * @param path below `/ari`, its parts encoded
     * @throws AriUnavailable
     */
    async request(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, query: Query = {}, body?: unknown) {
      const { response, text } = await send({
        method,
        path: `${prefix}/ari${path}${queryOf(query)}`,
        headers: { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: response.statusCode, body: parseJson(text) }
    },
    /** A request to Asterisk's manager interface on the same server. The form is sent in the body, so no URL has a secret. */
    async manager(form: Query, cookie: string | null) {
      const { response, text } = await send({
        method: 'POST',
        path: `${prefix}/rawman`,
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...(cookie !== null && { cookie }) },
        body: new URLSearchParams(form).toString(),
      })
      const [set] = [response.headers['set-cookie'] ?? []].flat()
      return { text, cookie: set?.split(';')[0] ?? null }
    },
    close: (): Promise<void> => pool.close(),
  }
}

export const channelPath = (id: string): string => `/channels/${encodeURIComponent(id)}`
export const bridgePath = (id: string): string => `/bridges/${encodeURIComponent(id)}`
export const applicationPath = (app: string): string => `/applications/${encodeURIComponent(app)}`

/** Percent-encoded throughout: in a query, Asterisk reads a bare `+` as a space. */
function queryOf(query: Query): string {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

const isReset = (error: unknown): boolean =>
  ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(String((error as { readonly code?: string }).code))
