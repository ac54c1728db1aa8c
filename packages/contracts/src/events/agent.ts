/** User status codes and their display names (specification, "commonly used values"). Other codes are rejected. */
export const STATUS_NAMES: Readonly<Record<number, string>> = {
  0: 'Unknown',
  1: 'Offline',
  2: 'Available',
  10: 'Busy',
  14: 'Be right back',
  34: 'Away / Off work',
  50: 'On the phone',
  66: 'Lunch',
  82: 'Meeting',
  98: 'Out of office',
  114: 'Do not disturb',
  130: 'Conference',
  144: 'Working',
  146: 'After call work',
  160: 'Ill',
  161: 'Gone for the day',
  162: 'Business trip',
  176: 'Holiday',
  177: 'Other',
}

/** The codes with a meaning to the service itself. */
export const Status = { unknown: 0, offline: 1, available: 2, onThePhone: 50, afterCallWork: 146 } as const

/** Asterisk's nine device states, in Asterisk's order. */
export const DeviceStatus = {
  unknown: 0,
  idle: 1,
  inUse: 2,
  busy: 3,
  invalid: 4,
  unavailable: 5,
  ringing: 6,
  ringInUse: 7,
  onHold: 8,
} as const
export type DeviceStatus = (typeof DeviceStatus)[keyof typeof DeviceStatus]

export const AgentReason = {
  setByApi: 1,
  callStarted: 2,
  afterCallWorkStarted: 3,
  ended: 4,
  untilExpired: 5,
  device: 6,
  logonOrLogoff: 7,
  platform: 8,
} as const
export type AgentReason = (typeof AgentReason)[keyof typeof AgentReason]

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
