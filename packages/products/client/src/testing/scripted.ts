/** A request that the client sent. */
export interface SentRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly body: unknown
  readonly redirect: RequestInit['redirect']
}

/** An answer, or the failure of `fetch`. */
export type Scripted = Response | Error

/** A `fetch` that answers each request with the next answer of the script. The last one repeats. */
export function scripted(script: readonly (Scripted | ((request: SentRequest) => Scripted))[]): {
  readonly fetch: typeof fetch
  readonly sent: SentRequest[]
} {
  const sent: SentRequest[] = []
  return {
    sent,
    fetch: async (input, init = {}) => {
      const request = {
        method: init.method ?? 'GET',
        url: input instanceof Request ? input.url : String(input),
        headers: new Headers(init.headers),
        redirect: init.redirect,
        body: typeof init.body === 'string' ? JSON.parse(init.body) : init.body,
      }
      sent.push(request)
      const next = script[Math.min(sent.length, script.length) - 1] ?? new Error('the script is empty')
      const answer = typeof next === 'function' ? next(request) : next
      init.signal?.throwIfAborted()
      if (answer instanceof Error) throw answer
      return answer.clone()
    },
  }
}

export const json = (value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(value), { status, headers: { 'content-type': 'application/json', ...headers } })

/** An error of the API that may be retried immediately. */
export const problem = (code: string, status: number, more: object = {}): Response =>
  new Response(JSON.stringify({ type: `/x#${code}`, title: 'Refused', status, code, requestId: 'r-1', ...more }), {
    status,
    headers: { 'content-type': 'application/problem+json; charset=utf-8', 'retry-after': '0' },
  })

export const page = (text: string, status: number): Response =>
  new Response(text, { status, headers: { 'content-type': 'text/html; charset=utf-8', 'retry-after': '0' } })

/** As Node's fetch fails. */
export const failure = (code: string, message: string): TypeError =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) })
