import { AppError, FAILURES, type FailureCode, type FailureExtra } from './failure.ts'
import { Unavailable } from './unavailable.ts'

/** The page of the api that describes every error code; each code is a fragment of it. */
export const PROBLEMS_PAGE = '/api/v1/docs/problems'

/** RFC 9457 `application/problem+json`. Users quote `requestId` to the operator. */
export interface Problem extends Omit<FailureExtra, 'status'> {
  /** A path of the api, because only clients know by which host they reach the installation (ADR 0062). */
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: FailureCode
  readonly requestId: string
}

/** The error response. An error that is not meant for clients becomes `internal` and shows only the request id. */
export function toProblem(error: unknown, requestId: string): Problem {
  const { code, extra } = error instanceof AppError ? error : { code: codeOf(error), extra: {} }
  return { type: `${PROBLEMS_PAGE}#${code}`, ...FAILURES[code], ...extra, code, requestId }
}

const codeOf = (error: unknown): FailureCode => (error instanceof Unavailable ? 'service-unavailable' : 'internal')
