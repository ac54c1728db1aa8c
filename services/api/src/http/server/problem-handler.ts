import { AppError, toProblem, Unavailable } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import type { ErrorRequestHandler } from 'express'
import { MAX_FAULTS } from '../exact-values.ts'
import { BEARER_CHALLENGE, HeaderedError } from '../headered-error.ts'
import { sendJson } from '../send.ts'
import { requestContextOf } from './observe-requests.ts'

/** Long enough for RabbitMQ or Redis to elect a new leader, short enough for a waiting person. */
const RETRY_AFTER_SECONDS = '5'

const BAD_PATH = 'The path is not valid percent-encoded UTF-8.'

/** Answers every error as `application/problem+json`. An unexpected error is logged, and the client sees only a request id. */
export function createProblemHandler(log: Logger): ErrorRequestHandler {
  return async (thrown: unknown, _request, response, _next) => {
    const context = requestContextOf(response)
    // The router's, for a path such as `/%ff`.
    const error = thrown instanceof URIError ? new AppError('invalid-request', { detail: BAD_PATH }) : thrown
    if (error instanceof Unavailable) context.unavailable = error.dependency
    const problem = toProblem(error, context.requestId)
    if (problem.code === 'internal') log.error('request failed', { requestId: context.requestId, error })
    if (response.headersSent) {
      response.destroy()
      return
    }
    const errors = problem.errors?.slice(0, MAX_FAULTS)
    response.set(headersOf(error, problem.status))
    await sendJson(response, problem.status, { ...problem, ...(errors && { errors }) }, 'application/problem+json')
  }
}

const headersOf = (error: unknown, status: number): Readonly<Record<string, string>> => ({
  ...(status === 401 && { 'WWW-Authenticate': BEARER_CHALLENGE }),
  ...(status === 503 && { 'Retry-After': RETRY_AFTER_SECONDS }),
  ...(error instanceof HeaderedError && error.headers),
})

export const isNotFound = (error: unknown): boolean => error instanceof AppError && toProblem(error, '').status === 404
