import { AppError, type Fault, type StatusNames } from '@switchhook/contracts'

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
