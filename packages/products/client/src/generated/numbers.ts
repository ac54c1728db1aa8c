// Written by make docs from docs/openapi.json and packages/contracts.
export const AgentReason = {
  setByApi: 1,
  callStarted: 2,
  afterCallWorkStarted: 3,
  ended: 4,
  untilExpired: 5,
  device: 6,
  logonOrLogoff: 7,
  platform: 8
} as const

export const CallState = {
  unknown: 0,
  initiated: 1,
  alerting: 2,
  connected: 3,
  held: 4,
  queued: 5,
  failed: 6,
  ended: 7,
  proceeding: 8
} as const

export const CommandNumber = { unknown: 0, dial: 1, answer: 2, hangup: 3, hold: 4, resume: 5, transfer: 6 } as const

export const CommandResultNumber = { ok: 1, failed: 2 } as const

export const DeviceStatus = {
  unknown: 0,
  idle: 1,
  inUse: 2,
  busy: 3,
  invalid: 4,
  unavailable: 5,
  ringing: 6,
  ringInUse: 7,
  onHold: 8
} as const

export const Direction = { unknown: 0, inbound: 1, outbound: 2 } as const

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
  platformLost: 12
} as const

export const EndedBy = { unknown: 0, agent: 1, remote: 2, system: 3 } as const

export const LegRole = { unknown: 0, originator: 1, destination: 2, consultant: 3, transferTarget: 4 } as const

export const OutcomeNumber = {
  unknown: 0,
  delivered: 1,
  answered: 2,
  timeout: 3,
  dns: 4,
  refused: 5,
  tls: 6,
  reset: 7,
  network: 8,
  malformed: 9,
  blocked: 10,
  'unusable-url': 11,
  lapsed: 12,
  proxy: 13
} as const

export const ParkedReasonNumber = { unknown: 0, exhausted: 1, rejected: 2 } as const

export const PartyType = { unknown: 0, agent: 1, extension: 2, external: 3 } as const

export const Status = { unknown: 0, offline: 1, available: 2, onThePhone: 50, afterCallWork: 146 } as const

export const TransferRole = { transferring: 1, transferred: 2, target: 3 } as const

export const TransferStatus = { started: 1, ringing: 2, completed: 3, failed: 4, cancelled: 5 } as const

/** The event types that this version of the client knows. */
export const EVENT_TYPES = [
  'call.status',
  'agent.status',
  'webhook.endpoint.failing',
  'webhook.endpoint.recovered',
  'webhook.delivery.parked',
  'webhook.parked.limit',
  'webhook.held.limit'
] as const

/** The states of a delivery that this version of the client knows. */
export const DELIVERY_STATES = [
  'pending',
  'waiting',
  'held',
  'acknowledged',
  'parked',
  'withdrawn',
  'expired'
] as const
