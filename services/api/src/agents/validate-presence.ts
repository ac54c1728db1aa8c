import { AppError, type Fault } from '@switchhook/contracts'
import type { PresenceSetting } from './agent.ts'
import { parseStatusCode, type StatusNames, unknownStatusCode } from './status-codes.ts'

export interface PresenceBody {
  readonly statusCode: string | number
  readonly until?: string | null
  readonly message?: string | null
  readonly location?: string | null
}

/** All that is wrong with a body, at once. An unknown status code is told by a code of its own, with those that are known. */
export const judgePresence =
  (names: StatusNames, nowMs: () => number) =>
  (body: unknown, faults: readonly Fault[]): AppError | undefined => {
    const members = typeof body === 'object' && body !== null ? (body as Partial<PresenceBody>) : {}
    const schemaKnows = (pointer: string): boolean => faults.some((fault) => fault.pointer === pointer)
    const status = members.statusCode
    const isUnknown = status !== undefined && !schemaKnows('/statusCode') && !isKnown(status, names)
    const isPast = typeof members.until === 'string' && !schemaKnows('/until') && !(Date.parse(members.until) > nowMs())
    const errors = [
      ...faults,
      ...(isUnknown ? [{ pointer: '/statusCode', detail: 'must be one of knownStatusCodes' }] : []),
      ...(isPast ? [{ pointer: '/until', detail: 'must be a time in the future' }] : []),
    ]
    if (errors.length === 0) return undefined
    if (isUnknown || schemaKnows('/statusCode')) return unknownStatusCode(names, errors)
    return new AppError('invalid-request', { detail: 'The body is not valid', errors })
  }

function isKnown(value: unknown, names: StatusNames): boolean {
  const code = parseStatusCode(value)
  return code !== undefined && Object.hasOwn(names, code)
}

/** Of a body that was judged to be sound. */
export function settingOf({ statusCode, until, message, location }: PresenceBody): PresenceSetting {
  return {
    statusCode: Number(statusCode),
    until: until == null ? null : new Date(until).toISOString(),
    message: message ?? null,
    location: location ?? null,
  }
}
