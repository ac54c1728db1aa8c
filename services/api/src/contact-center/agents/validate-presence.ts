import { AppError, type Fault, type StatusNames } from '@switchhook/contracts'
import type { PresenceSetting } from '../center/agent.ts'
import type { PresenceBody } from './agent-schemas.ts'

/** Reports all faults of a body together. An unknown status code has its own error code, and the answer lists the known ones. */
export function validatePresence(
  body: unknown,
  faults: readonly Fault[],
  { statusNames, now }: { readonly statusNames: StatusNames; readonly now: () => number },
): AppError | undefined {
  const { statusCode, until }: Partial<PresenceBody> = typeof body === 'object' && body !== null ? body : {}
  const isReported = (pointer: string): boolean => faults.some((fault) => fault.pointer === pointer)
  // A known code as a number or as its digits; every other form is no name of the table.
  const isUnknown = statusCode !== undefined && !isReported('/statusCode') && !Object.hasOwn(statusNames, statusCode)
  const untilFault = isReported('/until') || until == null ? undefined : faultOfUntil(until, now())
  const errors = [
    ...faults,
    ...(isUnknown ? [{ pointer: '/statusCode', detail: 'must be one of knownStatusCodes' }] : []),
    ...(untilFault === undefined ? [] : [{ pointer: '/until', detail: untilFault }]),
  ]
  if (errors.length === 0) return undefined
  const extra = { detail: 'The body is not valid.', errors }
  if (!isUnknown && !isReported('/statusCode')) return new AppError('invalid-request', extra)
  const knownStatusCodes = Object.entries(statusNames).map(([code, name]) => ({ code: Number(code), name }))
  return new AppError('unknown-status-code', { ...extra, knownStatusCodes })
}

/** Events and answers show `until` in UTC, and RFC 3339 has no year 10000. */
const LAST_TIME = '9999-12-31T23:59:59.999Z'

function faultOfUntil(until: string, nowMs: number): string | undefined {
  const atMs = Date.parse(until)
  if (atMs > Date.parse(LAST_TIME)) return `must not be after ${LAST_TIME}`
  return atMs > nowMs ? undefined : 'must be a time in the future'
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
