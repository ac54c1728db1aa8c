import { AppError, type Fault, type StatusNames } from '@switchhook/contracts'
import type { PresenceSetting } from '../center/agent.ts'
import { parseStatusCode, unknownStatusCode } from './status-codes.ts'

export interface PresenceBody {
  readonly statusCode: string | number
  readonly until?: string | null
  readonly message?: string | null
  readonly location?: string | null
}

/** Reports all faults of a body together. An unknown status code has its own error code, and the answer lists the known ones. */
export const validatePresence =
  (names: StatusNames, nowMs: () => number) =>
  (body: unknown, faults: readonly Fault[]): AppError | undefined => {
    const fields = typeof body === 'object' && body !== null ? (body as Partial<PresenceBody>) : {}
    const isReported = (pointer: string): boolean => faults.some((fault) => fault.pointer === pointer)
    const status = fields.statusCode
    const isUnknown = status !== undefined && !isReported('/statusCode') && !isKnown(status, names)
    const untilFault = isReported('/until') || fields.until == null ? undefined : faultOfUntil(fields.until, nowMs())
    const errors = [
      ...faults,
      ...(isUnknown ? [{ pointer: '/statusCode', detail: 'must be one of knownStatusCodes' }] : []),
      ...(untilFault === undefined ? [] : [{ pointer: '/until', detail: untilFault }]),
    ]
    if (errors.length === 0) return undefined
    if (isUnknown || isReported('/statusCode')) return unknownStatusCode(names, errors)
    return new AppError('invalid-request', { detail: 'The body is not valid.', errors })
  }

/** Events and answers show `until` in UTC, and RFC 3339 has no year 10000. */
const LAST_TIME = '9999-12-31T23:59:59.999Z'

function faultOfUntil(until: string, nowMs: number): string | undefined {
  const atMs = Date.parse(until)
  if (atMs > Date.parse(LAST_TIME)) return `must not be after ${LAST_TIME}`
  return atMs > nowMs ? undefined : 'must be a time in the future'
}

function isKnown(value: unknown, names: StatusNames): boolean {
  const code = parseStatusCode(value)
  return code !== undefined && Object.hasOwn(names, code)
}

/** The body must have passed `validatePresence`. */
export function settingOf({ statusCode, until, message, location }: PresenceBody): PresenceSetting {
  return {
    statusCode: Number(statusCode),
    until: until == null ? null : new Date(until).toISOString(),
    message: message ?? null,
    location: location ?? null,
  }
}
