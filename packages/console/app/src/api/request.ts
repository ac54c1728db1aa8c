import { accessToken, SignedOut } from '../session/session.ts'
import type { Problem } from './model.ts'

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

interface RequestOptions {
  /** Undefined and empty values are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  /** Sends an `Idempotency-Key`, so that a repeat has no further effect. */
  readonly once?: boolean
  readonly signal?: AbortSignal
}

/** The API refused the request. The message is for people. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly problem: Problem

  constructor(problem: Problem) {
    super([problem.detail ?? problem.title, ...(problem.errors ?? []).map(({ detail }) => detail)].join(' '))
    this.problem = problem
  }

  get isMissing(): boolean {
    return this.problem.status === 404
  }
}

/** The API did not answer, or a proxy answered for it. */
export class Away extends Error {
  override readonly name = 'Away'
}

/** Relative to the console, so that a path prefix stays. */
export const apiUrl = (path: string): URL => new URL(`..${path}`, document.baseURI)

/**
 * Sends a request with the person's token. A rejected token is renewed once.
 * @throws Refused, Away or SignedOut
 */
export async function request<T>(method: Method, path: string, options: RequestOptions = {}): Promise<T> {
  const key = options.once === true ? crypto.randomUUID() : undefined
  const token = await tokenOrAway()
  const first = await send(method, path, options, token, key)
  const response = first.status === 401 ? await send(method, path, options, await tokenOrAway(token), key) : first
  return readAnswer<T>(response)
}

async function tokenOrAway(rejected?: string): Promise<string> {
  try {
    return await accessToken(rejected)
  } catch (error) {
    if (error instanceof SignedOut) throw error
    throw new Away('The identity provider does not answer.', { cause: error })
  }
}

async function send(
  method: Method,
  path: string,
  { query = {}, body, signal }: RequestOptions,
  token: string,
  key: string | undefined,
): Promise<Response> {
  const url = apiUrl(path)
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value))
  try {
    return await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw new Away('The API does not answer.', { cause: error })
  }
}

async function readAnswer<T>(response: Response): Promise<T> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  if (response.ok) return (isJson && text !== '' ? JSON.parse(text) : undefined) as T
  // The answer of a proxy, not of the API.
  if (!isJson) throw new Away(`The API does not answer (a proxy answered ${response.status}).`)
  throw new Refused(JSON.parse(text) as Problem)
}
