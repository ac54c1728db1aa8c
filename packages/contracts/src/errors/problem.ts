import { AppError, FAILURES, type FailureCode, type FailureExtra, Unavailable } from './failure.ts'

/** RFC 9457 `application/problem+json`. `requestId` is what a user quotes to an operator. */
export interface Problem extends Omit<FailureExtra, 'status'> {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: FailureCode
  readonly requestId: string
}

/** Says of an error what a client may know. What is not meant for clients becomes `internal`, with nothing but the id. */
export function toProblem(error: unknown, requestId: string): Problem {
  if (error instanceof AppError) return problem(error.code, requestId, error.extra)
  if (error instanceof Unavailable) return problem('service-unavailable', requestId)
  return problem('internal', requestId)
}

function problem(code: FailureCode, requestId: string, extra: FailureExtra = {}): Problem {
  return { type: 'about:blank', ...FAILURES[code], ...extra, code, requestId }
}
