import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Request, RequestHandler, Response } from 'express'
import type { Audit } from '../audit/audit-log.ts'
import type { Authenticate } from '../auth/open-auth.ts'
import { ifMatchOf } from '../entity-tag.ts'
import { openEventOutput } from '../event-output.ts'
import { fillPage } from '../fill-page.ts'
import { type AnswerOnce, idempotencyKeyOf } from '../idempotency.ts'
import type { LimitClient } from '../limits/limit-client.ts'
import type { LimitExpensive } from '../limits/limit-expensive.ts'
import { createReadBody } from '../read-body.ts'
import { createReadQuery } from '../read-query.ts'
import { requireRole } from '../role.ts'
import { type Answer, type Caller, type Route, type RouteRequest, readsToken } from '../route.ts'
import { sendJson } from '../send.ts'
import { requestContextOf } from './observe-requests.ts'

const ANONYMOUS: Caller = { tenant: null, clientId: 'anybody', role: null }

export interface RequestSteps {
  readonly authenticate: Authenticate
  readonly limitClient: LimitClient
  readonly limitExpensive: LimitExpensive
  readonly answerOnce: AnswerOnce
  readonly audit: Audit
}

/**
 * Handles every request in this order: authentication, rate limit, role, query, body, idempotency key, audit, the route's handler.
 * The body of an unauthenticated, rate-limited or forbidden request is not read.
 */
export function serveRoute(route: Route, steps: RequestSteps): RequestHandler {
  const { authenticate, limitClient, limitExpensive, answerOnce, audit } = steps
  const readQuery = createReadQuery(route.query ?? {})
  const readBody = createReadBody(route)
  return async (request, response) => {
    const context = requestContextOf(response)
    context.route = route
    // Express derives the address from the headers at each use.
    const { ip, method, headers } = request
    const isAnonymous = route.isPublic === true && !(readsToken(route) && headers.authorization !== undefined)
    const caller = isAnonymous ? ANONYMOUS : await authenticate(request, ip)
    context.caller = caller
    setHeaders(response, await limitClient(caller, ip))
    if (!isAnonymous) requireRole(caller.role, route.role)
    const query = readQuery(searchOf(request))
    const body = await readBody(request)
    if (!isAnonymous && route.roleFor !== undefined) requireRole(caller.role, route.roleFor(body))
    const params = request.params as Record<string, string>
    const key = idempotencyKeyOf(route, request.get('idempotency-key'))
    const ifMatch = route.conditional === true ? ifMatchOf(request.get('if-match')) : undefined
    const lastEventId = request.get('last-event-id')
    const asked: RouteRequest = {
      caller,
      params,
      query,
      body,
      requestId: context.requestId,
      idFor: () => randomUUID(),
      isKeyed: key !== undefined,
      isClosed: () => response.destroyed,
      ...(ifMatch !== undefined && { ifMatch }),
      // An EventSource without an id may send an empty one.
      ...(lastEventId && { lastEventId }),
    }
    const { requestId, traceId } = context
    const origin = { address: ip, userAgent: request.get('user-agent'), requestId, traceId }
    // Inside answerOnce: a replayed answer was audited when it was given first.
    const ask = (request: RouteRequest): Promise<Answer> => audit(route, request, origin)
    const isPaged = route.query !== undefined && 'cursor' in route.query
    const handle = (request: RouteRequest): Promise<Answer> => (isPaged ? fillPage(request, ask) : ask(request))
    const respond = async (): Promise<void> => {
      const answer =
        key === undefined
          ? await handle(asked)
          : await answerOnce({ key, method, path: request.path, reread: route.reread }, asked, handle)
      setHeaders(response, answer.headers)
      if (answer.stream === undefined) return sendJson(response, answer.status, bodyOf(answer))
      const output = openEventOutput(response)
      answer.stream(output)
      if (request.method === 'HEAD') output.end()
    }
    if (route.isExpensive !== true) return respond()
    const respondFully = async (): Promise<void> => {
      await respond()
      // Answers that a client does not read would otherwise add up.
      if (!response.closed) await once(response, 'close')
    }
    return limitExpensive(caller, respondFully, asked.isClosed)
  }
}

function setHeaders(response: Response, headers: Answer['headers'] = {}): void {
  for (const name of Object.keys(headers)) response.setHeader(name, headers[name] ?? '')
}

const bodyOf = ({ body, confidential, large }: Answer): unknown =>
  confidential === undefined && large === undefined ? body : { ...(body as object), ...large, ...confidential }

function searchOf(request: Request): string {
  const at = request.originalUrl.indexOf('?')
  return at < 0 ? '' : request.originalUrl.slice(at)
}
