import type { AsyncLocalStorage } from 'node:async_hooks'
import { readTraceparent, traceIdOf } from '@switchhook/contracts'
import type { Tracing } from '@switchhook/runtime'
import type { RequestHandler } from 'express'
import { requestContextOf } from './request-context.ts'

/**
 * Continues the client's trace or starts a new one. Like the request log, the span has the path pattern of the route and
 * not the url. Must be mounted after the request log, which begins the request context.
 * @param traceOfRequest gets the `traceparent`, for the code that handles the request
 */
export function createRequestTrace(tracing: Tracing, traceOfRequest: AsyncLocalStorage<string>): RequestHandler {
  return (request, response, next) => {
    const { method } = request
    const span = tracing.begin({
      name: method,
      kind: 'server',
      parent: readTraceparent(request.get('traceparent')),
      attributes: () => ({ 'http.request.method': method, 'url.scheme': request.protocol }),
    })
    const context = requestContextOf(response)
    context.traceId = traceIdOf(span.traceparent)
    response.once('close', () => {
      const { route, caller, requestId } = context
      const status = response.headersSent ? response.statusCode : undefined
      if (route !== undefined) span.rename(`${method} ${route.path}`)
      span.note(() => ({
        'switchhook.request_id': requestId,
        ...(route !== undefined && { 'http.route': route.path }),
        ...(status !== undefined && { 'http.response.status_code': status }),
        ...(caller !== undefined && { 'switchhook.client_id': caller.clientId }),
        ...(caller?.tenant && { 'switchhook.tenant': caller.tenant }),
      }))
      span.end(failureOf(status))
    })
    traceOfRequest.run(span.traceparent, next)
  }
}

/** A 4xx is the client's mistake and no failure of the server's span. */
function failureOf(status: number | undefined): string | undefined {
  if (status === undefined) return 'aborted'
  return status >= 500 ? String(status) : undefined
}
