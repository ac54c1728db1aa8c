import type { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { readTraceparent, traceIdOf } from '@switchhook/contracts'
import { type Logger, type Metrics, SECONDS, type Tracing } from '@switchhook/runtime'
import type { RequestHandler, Response } from 'express'
import type { Caller, RouteSpec } from '../route.ts'

/** Facts about one request, collected while it is handled, for its log line, metrics, span and problem document. */
export interface RequestContext {
  readonly requestId: string
  readonly traceId: string
  route?: RouteSpec
  caller?: Caller
  /** The dependency that could not be reached, if that is why the request failed. */
  unavailable?: string
}

/** @throws if `observeRequests`, which begins the context, is not mounted first */
export function requestContextOf(response: Response): RequestContext {
  const context = response.locals['context'] as RequestContext | undefined
  if (context === undefined) throw new Error('The request has no context; mount observeRequests first.')
  return context
}

/** Request ids of clients that are safe to write into a log line and a response header. */
const SANE_REQUEST_ID = /^[\w.:-]{1,128}$/

/**
 * Gives every request an id and a trace, which continues the client's; when it ends, logs, counts and traces it under the
 * path pattern of its route: the url can be confidential, and clients must not create series. Requests that match no route
 * share one.
 * @param requestTraces gets the `traceparent`, for the code that handles the request
 */
export function observeRequests(deps: {
  readonly log: Logger
  readonly metrics: Metrics
  readonly tracing: Tracing
  readonly requestTraces: AsyncLocalStorage<string>
}): RequestHandler {
  const { log, metrics, tracing, requestTraces } = deps
  const requests = metrics.counter('switchhook_http_requests_total', 'Requests, by route, method and status.')
  const durations = metrics.histogram(
    'switchhook_http_request_duration_seconds',
    'Time from the start of a request to the end of its response.',
    SECONDS,
  )

  return (request, response, next) => {
    const startedAt = performance.now()
    const { method } = request
    const given = request.get('x-request-id')
    const requestId = given !== undefined && SANE_REQUEST_ID.test(given) ? given : randomUUID()
    const span = tracing.begin({
      name: method,
      kind: 'server',
      parent: readTraceparent(request.get('traceparent')),
      attributes: () => ({ 'http.request.method': method, 'url.scheme': request.protocol }),
    })
    const context: RequestContext = { requestId, traceId: traceIdOf(span.traceparent) }
    // The only place that belongs to one request.
    response.locals['context'] = context
    response.setHeader('X-Request-Id', requestId)
    response.once('close', () => {
      const { route, caller, unavailable, traceId } = context
      const durationMs = performance.now() - startedAt
      const status = response.headersSent ? response.statusCode : null
      log.info('request', {
        requestId,
        traceId,
        method,
        route: route?.path ?? null,
        status,
        durationMs: Math.round(durationMs),
        ...(caller !== undefined && { tenant: caller.tenant, clientId: caller.clientId }),
        ...(unavailable !== undefined && { unavailable }),
        ...(!response.writableFinished && { aborted: true }),
      })

      const series = { route: route?.path ?? 'none', method: route?.method.toUpperCase() ?? 'any' }
      requests.of({ ...series, status: String(status ?? 'aborted') }).add()
      // How long a stream or a wait lasts says nothing about the speed of the api.
      if (!(route?.isStream || route?.waits)) durations.of(series).observe(durationMs / 1_000)

      if (route !== undefined) span.rename(`${method} ${route.path}`)
      span.setAttributes(() => ({
        'switchhook.request_id': requestId,
        ...(route !== undefined && { 'http.route': route.path }),
        ...(status !== null && { 'http.response.status_code': status }),
        ...(caller !== undefined && { 'switchhook.client_id': caller.clientId }),
        ...(caller?.tenant && { 'switchhook.tenant': caller.tenant }),
      }))
      // A 4xx is the client's mistake and no failure of the server's span.
      span.end(status === null ? 'aborted' : status >= 500 ? String(status) : undefined)
    })
    requestTraces.run(span.traceparent, next)
  }
}
