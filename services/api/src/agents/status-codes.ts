import { AppError, type Fault, STATUS_NAMES, Status } from '@switchhook/contracts'

/** Names of the user status codes of this installation, by code. */
export type StatusNames = Readonly<Record<string, string>>

/** Codes that the service itself sets or checks. Every installation has them. */
const NEEDED_CODES: readonly number[] = [Status.offline, Status.available, Status.onThePhone, Status.afterCallWork]

export const DEFAULT_STATUS_NAMES: StatusNames = STATUS_NAMES

const statusName = { type: 'string', minLength: 1, maxLength: 64 } as const

/** JSON Schema 2020-12 of `USER_STATUS_CODES`. */
export const statusNamesSchema = {
  type: 'object',
  propertyNames: { pattern: '^(0|[1-9][0-9]{0,5})$' },
  properties: Object.fromEntries(NEEDED_CODES.map((code) => [code, statusName])),
  additionalProperties: statusName,
  required: NEEDED_CODES.map(String),
} as const

/**
 * Clients may send a status code as a number or as a string of digits.
 * @returns undefined for anything else
 */
export function parseStatusCode(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0 ? value : undefined
  return typeof value === 'string' && /^(0|[1-9][0-9]{0,5})$/.test(value) ? Number(value) : undefined
}

export function unknownStatusCode(names: StatusNames, errors: readonly Fault[]): AppError {
  const knownStatusCodes = Object.entries(names).map(([code, name]) => ({ code: Number(code), name }))
  return new AppError('unknown-status-code', { detail: 'The body is not valid.', errors, knownStatusCodes })
}
