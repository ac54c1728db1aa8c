import { AppError } from '@switchhook/contracts'

/**
 * A time that has passed `format: date-time`, in ms since 1970. A leap second is a time by RFC 3339, but JavaScript knows none.
 * @param name of the parameter, or of the member of the body
 * @throws AppError `invalid-request`
 */
export function msOf(name: string, time: string): number {
  const ms = Date.parse(time)
  if (!Number.isNaN(ms)) return ms
  throw new AppError('invalid-request', { errors: [{ pointer: `/${name}`, detail: 'is no time that is known here' }] })
}
