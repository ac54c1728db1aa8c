import { randomUUID } from 'node:crypto'
import type { Logger } from '@switchhook/runtime'
import type { RequestHandler } from 'express'
import { type RequestContext, requestContextOf } from './request-context.ts'

/** Request ids of clients that are safe to write into a log line and a response header. */
const SANE_REQUEST_ID = /^[\w.:-]{1,128}$/

/**
 * Gives every request an id and logs one line when it ends. The line has the path pattern of the route and not the url,
 * because ids and query strings can be confidential.
 */
export function createRequestLog(log: Logger): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now()
    const given = request.get('x-request-id')
    const requestId = given !== undefined && SANE_REQUEST_ID.test(given) ? given : randomUUID()
    // The only place that belongs to one request.
    response.locals['context'] = { requestId } satisfies RequestContext
    response.setHeader('X-Request-Id', requestId)
    response.once('close', () => {
      const { route, caller, unavailable, traceId } = requestContextOf(response)
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
