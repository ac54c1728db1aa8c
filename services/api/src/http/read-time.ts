import { AppError } from '@switchhook/contracts'

/**
 * A time that has passed `format: date-time`, in ms since 1970. A leap second is a time by RFC 3339, but JavaScript knows none.
 * @param name of the parameter, or of the member of the body
 * @throws AppError `invalid-request`
 */
function msOf(name: string, time: string): number {
  const ms = Date.parse(time)
  if (!Number.isNaN(ms)) return ms
  throw new AppError('invalid-request', { errors: [{ pointer: `/${name}`, detail: 'is no time that is known here' }] })
}

/** As a client names it, in the query or in the body. */
interface NamedWindow {
  readonly from?: string | null | undefined
  readonly to?: string | null | undefined
}

/**
 * A part of time, in ms since 1970: from `from` on, and before `to`. What is left out or null does not bound it.
 * @throws AppError `invalid-request` for a time that is none, and for a window in which there is no time
 */
export function windowOf({ from = null, to = null }: NamedWindow): {
  readonly fromMs?: number
  readonly toMs?: number
} {
  const fromMs = from === null ? undefined : msOf('from', from)
  const toMs = to === null ? undefined : msOf('to', to)
  if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs) {
    throw new AppError('invalid-request', { errors: [{ pointer: '/to', detail: 'is not after from' }] })
  }
  return { ...(fromMs !== undefined && { fromMs }), ...(toMs !== undefined && { toMs }) }
}
