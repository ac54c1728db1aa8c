import { AppError } from '@switchhook/contracts'
import { createNetworkMatcher } from '@switchhook/egress'
import type { Logger } from '@switchhook/runtime'
import cors from 'cors'
import express, { type Express, type RequestHandler } from 'express'
import { type ConsoleOptions, mountConsole } from '../console/mount-console.ts'
import { HeaderedError } from '../headered-error.ts'
import { documentedHeaders } from '../openapi/answer-headers.ts'
import { mountPages } from '../pages/mount-pages.ts'
import type { Route } from '../route.ts'
import { readForwardedAddresses } from './forwarded-addresses.ts'
import { createProblemHandler } from './problem-handler.ts'
import { type RequestSteps, serveRoute } from './serve-route.ts'

/** Mounts the routes in an Express application. Urls are case-sensitive, and a trailing slash matters. */
export function createApp(options: {
  readonly routes: readonly Route[]
  readonly steps: RequestSteps
  readonly config: Readonly<Record<'TRUST_PROXY' | 'CORS_ORIGINS', readonly string[]>>
  readonly log: Logger
  /** Mounted first: `observeRequests`. */
  readonly observe: RequestHandler
  readonly console: ConsoleOptions | undefined
}): Express {
  const { TRUST_PROXY, CORS_ORIGINS } = options.config
  const app = express()
  app.disable('x-powered-by')
  // API answers are not cacheable, so no request is answered 304, which the API document does not list.
  app.disable('etag')
  app.disable('query parser')
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.set('trust proxy', [...TRUST_PROXY])

  if (TRUST_PROXY.length > 0) app.use(readForwardedAddresses(createNetworkMatcher(TRUST_PROXY), options.log))
  app.use(options.observe, beforeRouting)
  if (CORS_ORIGINS.length > 0) app.use(allowOrigins(CORS_ORIGINS, options.routes))
  // Express tries one path after the other. Commands are the most frequent requests.
  const commandsFirst = options.routes.toSorted((a, b) => Number(isOfVoice(b)) - Number(isOfVoice(a)))
  for (const [path, routes] of Map.groupBy(commandsFirst, (route) => route.path)) {
    const resource = app.route(path.replaceAll(/\{(\w+)\}/g, ':$1'))
    for (const route of routes) resource[route.method](serveRoute(route, options.steps))
    resource.all(refuseMethod(routes))
  }
  mountPages(app, options.routes)
  if (options.console !== undefined) mountConsole(app, options.console)
  app.use(() => {
    throw new AppError('not-found')
  })
  app.use(createProblemHandler(options.log))
  return app
}

const beforeRouting: RequestHandler = ({ headers: { expect } }, response, next) => {
  // Answers hold one tenant's data, so no cache stores them; browsers must not guess another type than JSON.
  response.setHeader('Cache-Control', 'no-store').setHeader('X-Content-Type-Options', 'nosniff')
  // Node has answered `100-continue` before.
  if (expect !== undefined && !/\b100-continue\b/i.test(expect)) {
    throw new AppError('invalid-request', { status: 417, detail: 'Expect must be 100-continue or absent.' })
  }
  next()
}

/** Without cookies, so no credentials: a page sends a token. Browsers keep the answer to a preflight request for an hour. */
const allowOrigins = (origins: readonly string[], routes: readonly Route[]): RequestHandler =>
  cors({
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    exposedHeaders: [...documentedHeaders(routes)],
    maxAge: 3_600,
  })

const isOfVoice = ({ path }: Route): boolean => path.startsWith('/api/v1/voice/')

function refuseMethod(routes: readonly Route[]): RequestHandler {
  const methods = routes.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))
  return () => {
    throw new HeaderedError('method-not-allowed', { Allow: methods.join(', ') })
  }
}
