import { NoAnswer, type Problem, reasonOf, SwitchhookError } from './errors.ts'
import { retryAfterMs } from './retry.ts'

export interface ApiAnswer {
  readonly response: Response
  /** The JSON of the body; undefined without a body, and for a stream. */
  readonly value: unknown
}

/** The body of a success. */
export type AnswerKind = 'object' | 'array' | 'page' | 'nothing' | 'stream'

export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const IS_KIND: Readonly<Record<AnswerKind, (value: unknown, text: string) => boolean>> = {
  object: isObject,
  array: Array.isArray,
  page: (value) => isObject(value) && 'items' in value && Array.isArray(value.items),
  nothing: (value, text) => value !== undefined || text === '',
  stream: () => false,
}

/** Failures of Node's fetch before the request was sent. Browsers do not tell. */
const NOT_SENT: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']

/** One request. @throws SwitchhookError for an error of the API; NoAnswer if the API did not answer, or something else did */
export async function fetchAnswer(
  send: typeof fetch,
  url: string,
  init: RequestInit,
  kind: AnswerKind,
): Promise<ApiAnswer> {
  let response: Response
  let text = ''
  try {
    // A followed redirect turns a POST into a GET.
    response = await send(url, { ...init, redirect: 'manual' })
    if (kind === 'stream' && mediaTypeOf(response) === 'text/event-stream') return { response, value: undefined }
    text = await response.text()
  } catch (cause) {
    const { code } = ((cause as Error).cause ?? {}) as { readonly code?: unknown }
    throw new NoAnswer(`${addressOf(url)} did not answer (${reasonOf(cause)}). Check baseUrl and the network.`, {
      mayHaveRun: !NOT_SENT.includes(code),
      cause,
    })
  }
  const value = parsed(text)
  if (response.ok && IS_KIND[kind](value, text)) return { response, value }
  const waitMs = retryAfterMs(response.headers.get('retry-after'))
  if (!response.ok && isProblem(value)) throw new SwitchhookError(value, waitMs)
  throw strange(response, url, waitMs)
}

const addressOf = (url: string): string => url.replace(/\?.*/, '')

/** The value of a JSON text; undefined for any other text. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isProblem = (value: unknown): value is Problem => isObject(value) && 'code' in value && 'requestId' in value

/** The answer of something that is not the API. */
export function strange(response: Response, url: string, waitMs?: number): NoAnswer {
  const address = addressOf(url)
  const { status, headers, ok } = response
  const seen = `${status} (${headers.get('location') ?? mediaTypeOf(response)})`
  const isProxy = status >= 500
  const message = isProxy
    ? `A proxy answered ${seen} for ${address}. Check Switchhook behind it.`
    : `${address} answered ${seen}, unlike Switchhook. Check baseUrl.`
  return new NoAnswer(message, { mayHaveRun: ok || isProxy, status, retryAfterMs: waitMs })
}

export const mediaTypeOf = ({ headers }: Response): string =>
  headers.get('content-type')?.split(';')[0] || 'no content type'
