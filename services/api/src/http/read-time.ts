import { AppError, type Fault } from '@switchhook/contracts'

/** As a client names it, in the query or in the body; each time has passed `format: date-time`. */
interface NamedWindow {
  readonly from?: string | null | undefined
  readonly to?: string | null | undefined
}

interface Window {
  readonly fromMs?: number
  readonly toMs?: number
}

/**
 * A part of time, in ms since 1970: from `from` on, and before `to`. What is left out or null does not bound it.
 * @throws AppError `invalid-request` for a time that is none, and for a window in which there is no time
 */
export function windowOf(named: NamedWindow): Window {
  const fault = windowFault(named)
  if (fault !== undefined) throw fault
  return parsed(named)
}

/** What `windowOf` would throw. */
export function windowFault(named: NamedWindow): AppError | undefined {
  const { fromMs, toMs } = parsed(named)
  if (Number.isNaN(fromMs)) return refusal({ pointer: '/from', detail: UNKNOWN_TIME })
  if (Number.isNaN(toMs)) return refusal({ pointer: '/to', detail: UNKNOWN_TIME })
  if (fromMs === undefined || toMs === undefined || fromMs < toMs) return undefined
  return refusal({ pointer: '/to', detail: 'is not after from' })
}

/** A leap second is a time by RFC 3339, but JavaScript knows none. */
const UNKNOWN_TIME = 'is no time that is known here'

const parsed = ({ from, to }: NamedWindow): Window => ({
  ...(typeof from === 'string' && { fromMs: Date.parse(from) }),
  ...(typeof to === 'string' && { toMs: Date.parse(to) }),
})

const refusal = (fault: Fault): AppError => new AppError('invalid-request', { errors: [fault] })
