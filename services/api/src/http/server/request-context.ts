import type { Response } from 'express'
import type { Caller, RouteSpec } from '../route.ts'

/** Facts about one request, collected while it is handled, for its log line, metrics, span and problem document. */
export interface RequestContext {
  readonly requestId: string
  traceId?: string
  route?: RouteSpec
  caller?: Caller
  /** The dependency that could not be reached, if that is why the request failed. */
  unavailable?: string
}

/** @throws if the request log, which begins the context, is not mounted first */
export function requestContextOf(response: Response): RequestContext {
  const context = response.locals['context'] as RequestContext | undefined
  if (context === undefined) throw new Error('The request has no context; mount the request log first.')
  return context
}
