import { AppError, type Fault } from '@switchhook/contracts'

/** The time window and page of a list, as the query names them. */
export interface Range {
  readonly from?: string
  readonly to?: string
  readonly limit: number
  readonly cursor?: string
}

/** Converts the window of a query for a store: times in ms since 1970. @throws AppError `invalid-request`, like `windowOf` */
export const rangeOf = <Query extends Range>({ from, to, ...rest }: Query) => ({ ...rest, ...windowOf({ from, to }) })

/** A time window of a query or a body. Each time has passed `format: date-time`. */
interface NamedWindow {
  readonly from?: string | null | undefined
  readonly to?: string | null | undefined
}

interface Window {
  readonly fromMs?: number
  readonly toMs?: number
}

/**
 * The window in ms since 1970: `from` is included, `to` is excluded. An absent or null bound is open.
 * @throws AppError `invalid-request` for an invalid time or an empty window
 */
export function windowOf(named: NamedWindow): Window {
  const fault = windowFault(named)
  if (fault !== undefined) throw fault
  return parsed(named)
}

export function windowFault(named: NamedWindow): AppError | undefined {
  const { fromMs, toMs } = parsed(named)
  if (Number.isNaN(fromMs)) return refusal({ pointer: '/from', detail: UNKNOWN_TIME })
  if (Number.isNaN(toMs)) return refusal({ pointer: '/to', detail: UNKNOWN_TIME })
  if (fromMs === undefined || toMs === undefined || fromMs < toMs) return undefined
  return refusal({ pointer: '/to', detail: 'must be after from' })
}

/** RFC 3339 allows leap seconds, JavaScript does not. */
const UNKNOWN_TIME = 'is not a supported time'

const parsed = ({ from, to }: NamedWindow): Window => ({
  ...(typeof from === 'string' && { fromMs: Date.parse(from) }),
  ...(typeof to === 'string' && { toMs: Date.parse(to) }),
})

const refusal = (fault: Fault): AppError => new AppError('invalid-request', { errors: [fault] })
