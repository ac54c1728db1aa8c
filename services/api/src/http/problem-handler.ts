import { AppError, type FailureCode, toProblem, Unavailable } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import type { ErrorRequestHandler } from 'express'
import { requestContextOf } from './server/request-context.ts'
import { sendJson } from './server/send-json.ts'

/** A hostile body can have thousands of faults. */
const MAX_FAULTS = 50

/** Only the realm, for a request without a token (RFC 6750, section 3). */
export const BEARER_CHALLENGE = 'Bearer realm="switchhook"'

/** Long enough for RabbitMQ or Redis to elect a new leader, short enough for a waiting person. */
const RETRY_AFTER_SECONDS = '5'

/** An AppError with response headers. */
export class HeaderedError extends AppError {
  readonly headers: Readonly<Record<string, string>>

  constructor(code: FailureCode, headers: Readonly<Record<string, string>>, extra?: AppError['extra']) {
    super(code, extra)
    this.headers = headers
  }
}

/** Answers every error as `application/problem+json`. An unexpected error is logged, and the client sees only a request id. */
export function createProblemHandler(log: Logger): ErrorRequestHandler {
  return (thrown: unknown, _request, response, _next) => {
    const context = requestContextOf(response)
    const error = isUndecodable(thrown)
      ? new AppError('invalid-request', { detail: 'The path is not valid percent-encoded UTF-8.' })
      : thrown
    if (error instanceof Unavailable) context.unavailable = error.dependency
    const problem = toProblem(error, context.requestId)
    if (problem.code === 'internal') log.error('request failed', { requestId: context.requestId, error })
    if (response.headersSent) {
      response.destroy()
      return
    }
    const errors = problem.errors?.slice(0, MAX_FAULTS)
    response.set(headersOf(error, problem.status))
    sendJson(response, problem.status, { ...problem, ...(errors && { errors }) }, 'application/problem+json')
  }
}

function headersOf(error: unknown, status: number): Readonly<Record<string, string>> {
  return {
    ...(status === 401 && { 'WWW-Authenticate': BEARER_CHALLENGE }),
    ...(status === 503 && { 'Retry-After': RETRY_AFTER_SECONDS }),
    ...(error instanceof HeaderedError && error.headers),
  }
}

/** Express' router throws this for a path such as `/%ff`. */
const isUndecodable = (error: unknown): boolean => error instanceof URIError
