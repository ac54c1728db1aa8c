import type { Response } from 'express'
import type { Caller, Route } from '../route.ts'

/** What becomes known of one request while it is handled, for its log line and its problem. */
export interface Exchange {
  readonly requestId: string
  /** Once the request's trace has begun. */
  traceId?: string
  route?: Route
  caller?: Caller
  /** What could not be reached, where that is why the request failed. */
  unavailable?: string
}

/** Kept in Express' `locals`, the only place that belongs to one request; nobody else reads or writes those. */
export function beginExchange(response: Response, exchange: Exchange): void {
  response.locals['exchange'] = exchange
}

/** @throws if `beginExchange` was not called: the request log must be mounted first. */
export function exchangeOf(response: Response): Exchange {
  const exchange = response.locals['exchange'] as Exchange | undefined
  if (exchange === undefined) throw new Error('no exchange: is the request log mounted?')
  return exchange
}
