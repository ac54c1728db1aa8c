/** State of one agent's leg of a call. Values 1 to 6 are CSTA's connection states; 5 and 6 are reserved. */
export const CallState = {
  unknown: 0,
  initiated: 1,
  alerting: 2,
  connected: 3,
  held: 4,
  queued: 5,
  failed: 6,
  ended: 7,
  proceeding: 8,
} as const
export type CallState = (typeof CallState)[keyof typeof CallState]

/** Why a leg ended. Values 0 to 8 are TAPI 3's CALL_STATE_EVENT_CAUSE. */
export const EndReason = {
  none: 0,
  normal: 1,
  busy: 2,
  badAddress: 3,
  noAnswer: 4,
  cancelled: 5,
  rejected: 6,
  failed: 7,
  blocked: 8,
  transferred: 9,
  deviceUnavailable: 10,
  answeredElsewhere: 11,
  platformLost: 12,
} as const
export type EndReason = (typeof EndReason)[keyof typeof EndReason]

export const EndedBy = { unknown: 0, agent: 1, remote: 2, system: 3 } as const
export type EndedBy = (typeof EndedBy)[keyof typeof EndedBy]

/** From the agent's point of view. */
export const Direction = { unknown: 0, inbound: 1, outbound: 2 } as const
export type Direction = (typeof Direction)[keyof typeof Direction]

export const LegRole = { unknown: 0, originator: 1, destination: 2, consultant: 3, transferTarget: 4 } as const
export type LegRole = (typeof LegRole)[keyof typeof LegRole]

export const PartyType = { unknown: 0, agent: 1, extension: 2, external: 3 } as const

export const TransferRole = { transferring: 1, transferred: 2, target: 3 } as const

export const TransferStatus = { started: 1, ringing: 2, completed: 3, failed: 4, cancelled: 5 } as const
export type TransferStatus = (typeof TransferStatus)[keyof typeof TransferStatus]

export const CALL_COMMANDS = ['dial', 'answer', 'hangup', 'hold', 'resume', 'transfer'] as const
/** The name of a command in paths and REST responses. Webhook bodies carry its number. */
export type CallCommand = (typeof CALL_COMMANDS)[number]

/** The result of a command in webhook bodies. */
export const CommandResultNumber = { ok: 1, failed: 2 } as const

export const CommandNumber = {
  unknown: 0,
  dial: 1,
  answer: 2,
  hangup: 3,
  hold: 4,
  resume: 5,
  transfer: 6,
} as const satisfies Record<CallCommand | 'unknown', number>
export type CommandNumber = (typeof CommandNumber)[keyof typeof CommandNumber]
