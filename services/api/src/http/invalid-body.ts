import { AppError, type Fault } from '@switchhook/contracts'
import type { Schema } from './route.ts'

/** What a body is refused with that has these faults by its schema; where no other members are allowed, it says which are. */
export function invalidBody({ properties, additionalProperties }: Schema, errors: readonly Fault[]): AppError {
  const known =
    additionalProperties === false ? `. Its members are ${Object.keys(properties as object).join(', ')}` : ''
  return new AppError('invalid-request', { detail: `The body is not valid${known}`, errors })
}
