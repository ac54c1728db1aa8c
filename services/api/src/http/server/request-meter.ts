import { type Counter, type Histogram, type Metrics, SECONDS } from '@switchhook/runtime'
import type { RequestHandler } from 'express'
import { requestContextOf } from './request-context.ts'

/**
 * Counts requests by the path pattern of the route, never by the url, so that clients cannot create series. Requests that
 * match no route share one series. Must be mounted after the request log, which begins the request context.
 */
export function createRequestMeter(metrics: Metrics): RequestHandler {
  const requests = metrics.counter('switchhook_http_requests_total', 'Requests, by route, method and status.')
  const durations = metrics.histogram(
    'switchhook_http_request_duration_seconds',
    'Time from the start of a request to the end of its response.',
    SECONDS,
  )
  const known = new Map<string, { readonly count: Counter; readonly duration: Histogram }>()

  function seriesOf(route: string, method: string, status: string) {
    const key = `${route} ${method} ${status}`
    const present = known.get(key)
    if (present !== undefined) return present
    const series = { count: requests.of({ route, method, status }), duration: durations.of({ route, method }) }
    known.set(key, series)
    return series
  }

  return (_request, response, next) => {
    const startedAt = performance.now()
    response.once('close', () => {
      const { route } = requestContextOf(response)
      const status = response.headersSent ? String(response.statusCode) : 'aborted'
      const { count, duration } = seriesOf(route?.path ?? 'none', route?.method.toUpperCase() ?? 'any', status)
      count.add()
      // A stream lasts for hours, which says nothing about the speed of the api.
      if (route?.isStream !== true) duration.observe((performance.now() - startedAt) / 1_000)
    })
    next()
  }
}
