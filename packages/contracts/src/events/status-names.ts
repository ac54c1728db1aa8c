import { Status } from './agent.ts'

export type StatusNames = Readonly<Record<string, string>>

/** Codes that the service itself sets or checks. Every installation has them. */
const NEEDED_CODES: readonly number[] = [Status.offline, Status.available, Status.onThePhone, Status.afterCallWork]

const statusName = { type: 'string', minLength: 1, maxLength: 64 } as const

/** JSON Schema 2020-12 of `USER_STATUS_CODES`. */
export const statusNamesSchema = {
  type: 'object',
  propertyNames: { pattern: '^(0|[1-9][0-9]{0,5})$' },
  properties: Object.fromEntries(NEEDED_CODES.map((code) => [code, statusName])),
  additionalProperties: statusName,
  required: NEEDED_CODES.map(String),
} as const
