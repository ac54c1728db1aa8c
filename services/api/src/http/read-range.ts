import { AppError } from '@switchhook/contracts'

/** Converts the window of a query for a store: times in ms since 1970. @throws AppError `invalid-request`, like `windowOf` */
export const rangeOf = <Query extends NamedWindow>({ from, to, ...rest }: Query) => ({
  ...rest,
  ...windowOf({ from, to }),
})

/** A time window of a query or a body. Each time has passed `format: date-time`, whose check (`isTime`) parses it. */
interface NamedWindow {
  readonly from?: string | null | undefined
  readonly to?: string | null | undefined
}

/**
 * The window in ms since 1970: `from` is included, `to` is excluded. An absent or null bound is open.
 * @throws AppError `invalid-request` for an empty window
 */
export function windowOf(named: NamedWindow) {
  const fault = windowFault(named)
  if (fault !== undefined) throw fault
  return parsed(named)
}

export function windowFault(named: NamedWindow): AppError | undefined {
  const { fromMs, toMs } = parsed(named)
  if (fromMs === undefined || toMs === undefined || fromMs < toMs) return undefined
  return new AppError('invalid-request', { errors: [{ pointer: '/to', detail: 'must be after from' }] })
}

const parsed = ({ from, to }: NamedWindow) => ({
  ...(typeof from === 'string' && { fromMs: Date.parse(from) }),
  ...(typeof to === 'string' && { toMs: Date.parse(to) }),
})
