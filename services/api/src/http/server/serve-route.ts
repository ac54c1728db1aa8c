import { randomUUID } from 'node:crypto'
import { type AppError, compileSchema, type Fault } from '@switchhook/contracts'
import type { Request, RequestHandler } from 'express'
import type { Audit } from '../../audit/audit-log.ts'
import type { Authenticate } from '../../auth/authenticate.ts'
import type { LimitClient } from '../../limits/limit-client.ts'
import { type AnswerOnce, idempotencyKeyOf } from '../idempotency.ts'
import { invalidBody } from '../invalid-body.ts'
import { noBody, readJson } from '../read-body.ts'
import { createReadQuery } from '../read-query.ts'
import type { Answer, Caller, Route, RouteRequest } from '../route.ts'
import { exchangeOf } from './request-context.ts'
import { sendJson } from './send-json.ts'

/** Who asks for a route that needs no token. */
const ANYBODY: Caller = { tenant: null, clientId: 'anybody' }

/** What stands between a request and its route. */
export interface Passage {
  readonly authenticate: Authenticate
  readonly limitClient: LimitClient
  readonly answerOnce: AnswerOnce
  readonly audit: Audit
}

/**
 * The way of every request: who, how often, query, body, then the route itself. Nothing of a body is read for an unknown
 * caller, or for one who asks too often.
 */
export function serveRoute(route: Route, passage: Passage): RequestHandler {
  const { authenticate, limitClient, answerOnce, audit } = passage
  const readQuery = createReadQuery(route.query ?? {})
  const readBody = bodyReader(route)
  return async (request, response) => {
    const exchange = exchangeOf(response)
    exchange.route = route
    const caller = route.isPublic === true ? ANYBODY : await authenticate(request)
    exchange.caller = caller
    response.set(await limitClient(caller, request.ip))
    const query = readQuery(searchOf(request))
    const body = await readBody(request)
    const params = request.params as Record<string, string>
    const key = route.idempotent === true ? idempotencyKeyOf(request.get('idempotency-key')) : undefined
    const asked: RouteRequest = {
      caller,
      params,
      query,
      body,
      requestId: exchange.requestId,
      idFor: () => randomUUID(),
      isKeyed: key !== undefined,
    }
    const { requestId, traceId } = exchange
    const origin = { address: request.ip, userAgent: request.get('user-agent'), requestId, traceId }
    // Within answerOnce: an answer that is only repeated was written down when it was given first.
    const handle = (request: RouteRequest): Promise<Answer> => audit(route, request, origin)
    const answer =
      key === undefined
        ? await handle(asked)
        : await answerOnce({ key, method: request.method, path: request.path }, asked, handle)
    if (answer.headers !== undefined) response.set(answer.headers)
    sendJson(response, answer.status, bodyOf(answer))
  }
}

function bodyReader(route: Route): (request: Request) => Promise<unknown> {
  if (route.body === undefined) return () => Promise.resolve(undefined)
  const schema = route.body
  const check = compileSchema<unknown>(schema)
  const judge = (body: unknown, faults: readonly Fault[]): AppError | undefined => {
    if (route.validate !== undefined) return route.validate(body, faults)
    return faults.length > 0 ? invalidBody(schema, faults) : undefined
  }
  return async (request) => {
    const sent = hasNoBody(request) ? undefined : await readJson(request)
    const body = sent === undefined ? withoutBody(route) : sent
    const result = check(body)
    const failure = judge(body, result.ok ? [] : result.faults)
    if (failure !== undefined) throw failure
    return body
  }
}

/** The body to validate for a request that has none. @throws AppError `malformed-json` where the route requires one */
function withoutBody({ isBodyOptional, validatesAbsentBody }: Route): object | undefined {
  if (isBodyOptional === true) return {}
  if (validatesAbsentBody === true) return undefined
  throw noBody()
}

/** RFC 9112, section 6.3: the request says so. */
const hasNoBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0

function bodyOf({ body, confidential }: Answer): unknown {
  return confidential === undefined ? body : { ...(body as object), ...confidential }
}

function searchOf(request: Request): string {
  const at = request.originalUrl.indexOf('?')
  return at < 0 ? '' : request.originalUrl.slice(at)
}
