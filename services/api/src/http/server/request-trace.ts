import { AsyncLocalStorage } from 'node:async_hooks'
import { readTraceparent, traceIdOf } from '@switchhook/contracts'
import type { Tracing } from '@switchhook/runtime'
import type { RequestHandler } from 'express'
import { exchangeOf } from './request-context.ts'

/** Which request something is done for. */
export interface RequestScope {
  /** The `traceparent` of the request that is being handled, if one is. */
  readonly current: () => string | undefined
  readonly within: <T>(traceparent: string, work: () => T) => T
}

export function createRequestScope(): RequestScope {
  const storage = new AsyncLocalStorage<string>()
  return {
    current: () => storage.getStore(),
    within: (traceparent, work) => storage.run(traceparent, work),
  }
}

/**
 * Continues the client's trace, or begins one. The span names the route's pattern and neither the url nor its ids, as the
 * request log does; it must be mounted after that.
 */
export function createRequestTrace(tracing: Tracing, scope: RequestScope): RequestHandler {
  return (request, response, next) => {
    const { method } = request
    const span = tracing.begin({
      name: method,
      kind: 'server',
      parent: readTraceparent(request.get('traceparent')),
      attributes: () => ({ 'http.request.method': method, 'url.scheme': request.protocol }),
    })
    const exchange = exchangeOf(response)
    exchange.traceId = traceIdOf(span.traceparent)
    response.once('close', () => {
      const { route, caller, requestId } = exchange
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
    scope.within(span.traceparent, next)
  }
}

/** A client's own mistake is no failure of the server. */
function failureOf(status: number | undefined): string | undefined {
  if (status === undefined) return 'aborted'
  return status >= 500 ? String(status) : undefined
}
