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

/** Stores the context in Express' `locals`, the only place that belongs to one request. */
export function beginRequestContext(response: Response, context: RequestContext): void {
  response.locals['context'] = context
}

/** @throws if `beginRequestContext` was not called: the request log must be mounted first */
export function requestContextOf(response: Response): RequestContext {
  const context = response.locals['context'] as RequestContext | undefined
  if (context === undefined) throw new Error('The request has no context; mount the request log first.')
  return context
}
