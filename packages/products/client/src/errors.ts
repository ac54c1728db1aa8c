import type { Schemas } from './generated/schemas.ts'

/** An error of the API (RFC 9457). */
export type Problem = Schemas['Problem']

/** A newer service may send codes that this client does not know. */
export type ErrorCode = Problem['code'] | (string & {})

/** A call that failed. Each of its three kinds is an error class of the client. */
export class Failure extends Error {
  /** The request may have had its effect. Repeat it with the same `idempotencyKey`, or read the state. */
  declare readonly mayHaveRun: boolean
  /** The status of the answer; undefined without an answer. */
  declare readonly status?: number | undefined
  /** How long the answer asks to wait before a retry. */
  declare readonly retryAfterMs?: number | undefined
  /** The key of the request. */
  declare readonly idempotencyKey?: string | undefined

  constructor(message: string, { cause, ...fields }: Readonly<Record<string, unknown>> = {}) {
    super(message, { cause })
    Object.assign(this, { mayHaveRun: false }, fields)
  }
}

/** The API refused the request. Branch on `code`: codes are stable, the message is for people. */
export class SwitchhookError extends Failure {
  override readonly name = 'SwitchhookError'
  declare readonly status: number
  declare readonly code: ErrorCode
  declare readonly problem: Problem
  /** Quote it when you contact the operator. */
  declare readonly requestId: string

  constructor(problem: Problem, retryAfterMs?: number) {
    const { code, status, requestId, title, detail = title, errors = [] } = problem
    const faults = errors.map((fault) => `${fault.pointer} ${fault.detail}`).join(', ')
    const more = code === 'not-found' ? '; the server may be older than this client' : faults && `: ${faults}`
    const mayHaveRun = code === 'internal' || code === 'service-unavailable'
    const message = more ? detail.replace(/\.$/, '') + more : detail
    super(message, { mayHaveRun, retryAfterMs, code, status, problem, requestId })
  }
}

/** The API did not answer, or something else answered in its place: a proxy, or another server. */
export class NoAnswer extends Failure {
  override readonly name = 'NoAnswer'
}

/** The identity provider gave no token. The API was not called. */
export class SignInFailed extends Failure {
  override readonly name = 'SignInFailed'
}

/** The reason of a failed fetch. Node hides it in `cause`. */
export function reasonOf(error: unknown): string {
  const { cause, message } = error as { readonly message: string; readonly cause?: { message?: string; code?: string } }
  return cause?.message || cause?.code || message
}
