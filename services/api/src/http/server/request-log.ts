import { randomUUID } from 'node:crypto'
import type { Logger } from '@switchhook/runtime'
import type { RequestHandler } from 'express'
import { beginExchange, exchangeOf } from './request-context.ts'

/** What may be taken over from a client into our log lines and back into its answer. */
const SANE_REQUEST_ID = /^[\w.:-]{1,128}$/

/**
 * Gives every request its id and writes one line when it is over. The line names the route's pattern, not the url that
 * was asked for: ids and query strings are the client's business.
 */
export function createRequestLog(log: Logger): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now()
    const given = request.get('x-request-id')
    const requestId = given !== undefined && SANE_REQUEST_ID.test(given) ? given : randomUUID()
    beginExchange(response, { requestId })
    response.set('X-Request-Id', requestId)
    response.once('close', () => {
      const { route, caller, unavailable, traceId } = exchangeOf(response)
      log.info('request', {
        requestId,
        ...(traceId !== undefined && { traceId }),
        method: request.method,
        route: route?.path ?? null,
        status: response.headersSent ? response.statusCode : null,
        durationMs: Math.round(performance.now() - startedAt),
        ...(caller !== undefined && { tenant: caller.tenant, clientId: caller.clientId }),
        ...(unavailable !== undefined && { unavailable }),
        ...(!response.writableFinished && { aborted: true }),
      })
    })
    next()
  }
}
