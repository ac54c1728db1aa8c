import { type Counter, type Histogram, type Metrics, SECONDS } from '@switchhook/runtime'
import type { RequestHandler } from 'express'
import { exchangeOf } from './request-context.ts'

/**
 * Counts requests by the route's pattern, never by the url that was asked for; what met no route is one series. Mounted
 * after the request log, whose exchange it reads.
 */
export function createRequestMeter(metrics: Metrics): RequestHandler {
  const requests = metrics.counter('switchhook_http_requests_total', 'Requests, by route, method and status.')
  const durations = metrics.histogram(
    'switchhook_http_request_duration_seconds',
    'From a request to the end of its answer.',
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
      const { route } = exchangeOf(response)
      const status = response.headersSent ? String(response.statusCode) : 'aborted'
      const { count, duration } = seriesOf(route?.path ?? 'none', route?.method.toUpperCase() ?? 'any', status)
      count.add()
      duration.observe((performance.now() - startedAt) / 1_000)
    })
    next()
  }
}
