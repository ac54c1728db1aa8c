import { AppError, compileSchema } from '@switchhook/contracts'
import type { Request, RequestHandler } from 'express'
import type { Authenticate } from '../auth/authenticate.ts'
import { exchangeOf } from './exchange.ts'
import { readJson } from './read-json.ts'
import { createReadQuery } from './read-query.ts'
import type { Caller, Route } from './route.ts'
import { sendJson } from './send-json.ts'

/** Who asks for a route that needs no token. */
const ANYBODY: Caller = { tenant: null, clientId: 'anybody' }

/** The way of every request: who, query, body, then the route itself. Nothing of a body is read for an unknown caller. */
export function serveRoute(route: Route, authenticate: Authenticate): RequestHandler {
  const readQuery = createReadQuery(route.query ?? {})
  const readBody = bodyReader(route)
  return async (request, response) => {
    const exchange = exchangeOf(response)
    exchange.route = route
    const caller = route.isPublic === true ? ANYBODY : await authenticate(request)
    exchange.caller = caller
    const query = readQuery(searchOf(request))
    const body = await readBody(request)
    const params = request.params as Record<string, string>
    const answer = await route.handle({ caller, params, query, body, requestId: exchange.requestId })
    if (answer.headers !== undefined) response.set(answer.headers)
    sendJson(response, answer.status, answer.body)
  }
}

function bodyReader(route: Route): (request: Request) => Promise<unknown> {
  if (route.body === undefined) return () => Promise.resolve(undefined)
  const check = compileSchema<unknown>(route.body)
  return async (request) => {
    const body = await readJson(request)
    const result = check(body)
    const faults = result.ok ? [] : result.faults
    const failure =
      route.validate?.(body, faults) ?? (faults.length > 0 && !route.validate ? invalid(faults) : undefined)
    if (failure !== undefined) throw failure
    return body
  }
}

const invalid = (errors: NonNullable<AppError['extra']['errors']>): AppError =>
  new AppError('invalid-request', { detail: 'The body is not valid', errors })

function searchOf(request: Request): string {
  const at = request.originalUrl.indexOf('?')
  return at < 0 ? '' : request.originalUrl.slice(at)
}
