import { AppError } from '@switchhook/contracts'

/** A time window of a query or a body: `from` is included, `to` is not. Each time has passed `format: date-time`. */
interface NamedWindow {
  readonly from?: string | null | undefined
  readonly to?: string | null | undefined
}

/**
 * Converts the window of a query for a store: times in ms since 1970. An absent or null bound is open.
 * @throws AppError `invalid-request` for an empty window
 */
export function rangeOf<Query extends NamedWindow>({ from, to, ...rest }: Query) {
  const fault = windowFault({ from, to })
  if (fault !== undefined) throw fault
  return { ...rest, ...(from != null && { fromMs: Date.parse(from) }), ...(to != null && { toMs: Date.parse(to) }) }
}

export function windowFault({ from, to }: NamedWindow): AppError | undefined {
  if (from == null || to == null || Date.parse(from) < Date.parse(to)) return undefined
  return new AppError('invalid-request', { errors: [{ pointer: '/to', detail: 'must be after from' }] })
}
