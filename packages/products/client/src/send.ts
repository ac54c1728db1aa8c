import { orAborted, startDeadline, waitMs } from './deadline.ts'
import { Failure, NoAnswer, type SwitchhookError } from './errors.ts'
import { type AnswerKind, type ApiAnswer, fetchAnswer } from './fetch-answer.ts'
import type { CallOptions, ClientOptions, Retry } from './options.ts'
import { backoffMs, reactionTo } from './retry.ts'

interface ApiRequest {
  /** The method of the client, such as `calls.dial`. */
  readonly operation: string
  readonly method: string
  /** With the query, from `/` on. */
  readonly path: string
  readonly body?: unknown
  readonly takesKey: boolean
  readonly headers?: Readonly<Record<string, string>>
  readonly answer: AnswerKind
  readonly timeoutMs: number
}

/** Sends a request, with retries. @throws SwitchhookError, NoAnswer, SignInFailed, or the reason of the caller's signal */
export type Send = (request: ApiRequest, options?: CallOptions) => Promise<ApiAnswer>

const MAX_RETRIES = 3

export function createSend(options: ClientOptions): Send {
  const base = baseOf(options.baseUrl)
  const { auth, fetch: send = fetch, maxRetries = MAX_RETRIES, onRetry } = options

  return async (request, { signal, timeoutMs = request.timeoutMs, idempotencyKey, ifMatch, onAnswer } = {}) => {
    const { operation, method, path, body } = request
    const key = request.takesKey ? (idempotencyKey ?? crypto.randomUUID()) : undefined
    const headers = {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      ...request.headers,
    }
    const deadline = startDeadline(timeoutMs, signal)
    let mayHaveRun = false
    let rejected: string | undefined
    try {
      for (let tries = 1; ; tries++) {
        let token: string | undefined
        try {
          token = auth && (await orAborted(auth(rejected), deadline.signal))
          // The error of fetch would show the token.
          if (token && /[^!-~]/.test(token)) throw new TypeError('`auth` returned a malformed token')
          const init = {
            method,
            // `fetch` would fail with a header that cannot be sent as it does without an answer. A plain object, because
            // a `fetch` of the caller may spread it.
            headers: Object.fromEntries(
              new Headers({ ...headers, ...(token && { authorization: `Bearer ${token}` }) }),
            ),
            signal: deadline.signal,
            ...(body !== undefined && { body: JSON.stringify(body) }),
          }
          const answer = await fetchAnswer(send, base + path, init, request.answer)
          onAnswer?.(answer.response)
          return answer
        } catch (error) {
          signal?.throwIfAborted()
          mayHaveRun ||= method !== 'GET' && error instanceof Failure && error.mayHaveRun
          const about = { mayHaveRun, idempotencyKey: key }
          if (deadline.isOver()) {
            const asked = auth && token === undefined ? 'tokenUrl' : operation
            throw new NoAnswer(`${asked} did not answer within ${timeoutMs / 1_000} s.`, { ...about, cause: error })
          }
          if (!(error instanceof Failure)) throw error
          const { status, retryAfterMs, code } = error as Failure & Partial<Pick<SwitchhookError, 'code'>>
          const reaction = reactionTo({ method, hasKey: key !== undefined, mayHaveRun, status, code })
          if (reaction === 'done') return { response: new Response(null, { status: 204 }), value: undefined }
          if (reaction === 'renew-token' && token && rejected === undefined) {
            rejected = token
            tries--
            continue
          }
          const ms = retryAfterMs ?? backoffMs(tries - 1, Math.random())
          if (reaction !== 'retry' || tries > maxRetries || ms > deadline.leftMs()) throw Object.assign(error, about)
          onRetry?.({ operation, tries, waitMs: ms, error: error as Retry['error'] })
          await waitMs(ms, signal)
        }
      }
    } finally {
      deadline.stop()
    }
  }
}

/** @throws TypeError if it is no address */
function baseOf(baseUrl: string | URL): string {
  const [, base] = /^(https?:\/\/[^@?#\s/]+[^@?#\s]*?)(\/api\/v1)?\/*$/i.exec(String(baseUrl)) ?? []
  if (base) return base
  throw new TypeError('baseUrl must look like https://switchhook.example.com')
}
