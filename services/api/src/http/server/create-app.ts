import { AppError } from '@switchhook/contracts'
import type { Logger, Metrics } from '@switchhook/runtime'
import express, { type Express, type RequestHandler } from 'express'
import { type ConsoleOptions, mountConsole } from '../../console/mount-console.ts'
import { mountPages } from '../../pages/mount-pages.ts'
import { createProblemHandler, HeaderedError } from '../problem-handler.ts'
import type { Route } from '../route.ts'
import { createRequestLog } from './request-log.ts'
import { createRequestMeter } from './request-meter.ts'
import { type RequestSteps, serveRoute } from './serve-route.ts'

/** Mounts the routes in an Express application. Urls are case-sensitive, and a trailing slash matters. */
export function createApp(options: {
  readonly routes: readonly Route[]
  readonly steps: RequestSteps
  /** Networks of the proxies whose `X-Forwarded-For` is trusted. */
  readonly trustProxy: readonly string[]
  readonly log: Logger
  readonly metrics: Metrics
  readonly trace: RequestHandler
  /** Absent: no console. */
  readonly console?: ConsoleOptions
}): Express {
  const app = express()
  app.disable('x-powered-by')
  // API answers are not cacheable, so no request is answered 304, which the API document does not list.
  app.disable('etag')
  app.disable('query parser')
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.set('trust proxy', [...options.trustProxy])

  app.use(createRequestLog(options.log), createRequestMeter(options.metrics), options.trace, answerPrivately)
  for (const [path, routes] of byPath(options.routes)) {
    const resource = app.route(path.replaceAll(/\{(\w+)\}/g, ':$1'))
    for (const route of routes) resource[route.method](serveRoute(route, options.steps))
    resource.all(refuseMethod(routes))
  }
  mountPages(app)
  if (options.console !== undefined) mountConsole(app, options.console)
  app.use(() => {
    throw new AppError('not-found')
  })
  app.use(createProblemHandler(options.log))
  return app
}

/** Answers hold one tenant's data, so no cache stores them; browsers must not guess another type than JSON. */
const answerPrivately: RequestHandler = (_request, response, next) => {
  response.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })
  next()
}

function byPath(routes: readonly Route[]): Map<string, Route[]> {
  const table = new Map<string, Route[]>()
  for (const route of routes) table.set(route.path, [...(table.get(route.path) ?? []), route])
  return table
}

function refuseMethod(routes: readonly Route[]): RequestHandler {
  const methods = routes.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))
  return () => {
    throw new HeaderedError('method-not-allowed', { Allow: methods.join(', ') })
  }
}
