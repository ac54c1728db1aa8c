import { randomUUID } from 'node:crypto'
import { type CallId, CallState, DeviceStatus, Status } from '@switchhook/contracts'

/** What a person says of himself. */
export interface PresenceSetting {
  readonly statusCode: number
  /** ISO 8601, UTC; null: until it is set anew. */
  readonly until: string | null
  readonly message: string | null
  readonly location: string | null
}

type Standing = Omit<PresenceSetting, 'until'>

/** One of the agent's live legs. */
export interface AgentCall {
  readonly callId: CallId
  readonly state: CallState
}

/** An agent as stored: what a person has set, and what calls and devices have made of it, apart from each other. */
export interface Agent {
  readonly agentUri: string
  /**
   * Not used by this version. During a rolling upgrade, a process of the version before reads this record, derives event
   * ids from `stream`, and fails without it (ADR 0034).
   */
  readonly stream: string
  /** Of the last event; 0: none yet. */
  readonly sequence: number
  /** When the effective status began; null: as provisioned. */
  readonly since: string | null
  /** Last set without `until`: what everything else reverts to. */
  readonly standing: Standing
  readonly temporary: (PresenceSetting & { readonly until: string }) | null
  /** Set during a call; applied when the call and its after-call work are over. */
  readonly pending: PresenceSetting | null
  /** What the agent's calls lay over whatever was set. */
  readonly overlay:
    | { readonly kind: 'call'; readonly isAnswered: boolean }
    | { readonly kind: 'wrap-up'; readonly until: string }
    | null
  /** Oldest first. */
  readonly calls: readonly AgentCall[]
  /** Dials that were accepted and of which the platform has not told yet. */
  readonly reserved: readonly { readonly callId: CallId; readonly at: string }[]
  readonly isOnline: boolean
  /** `order` of the last report on the device. */
  readonly deviceOrder: number
}

/** An agent to whom nothing has happened since he was provisioned. */
export const newAgent = (agentUri: string): Agent => ({
  agentUri,
  stream: randomUUID(),
  sequence: 0,
  since: null,
  standing: { statusCode: Status.available, message: null, location: null },
  temporary: null,
  pending: null,
  overlay: null,
  calls: [],
  reserved: [],
  isOnline: true,
  deviceOrder: 0,
})

/** What others see of an agent. Effective status = overlay, else temporary, else standing. */
export interface AgentView {
  readonly statusCode: number
  readonly standingStatusCode: number
  readonly pendingStatusCode: number | null
  readonly deviceStatus: DeviceStatus
  readonly loggedOn: boolean
  readonly until: string | null
  readonly message: string | null
  readonly location: string | null
}

export function viewOf({ standing, temporary, pending, overlay, calls, isOnline }: Agent): AgentView {
  const set = temporary ?? standing
  return {
    statusCode: overlay === null ? set.statusCode : OVERLAY_STATUS[overlay.kind],
    standingStatusCode: standing.statusCode,
    pendingStatusCode: pending?.statusCode ?? null,
    deviceStatus: deviceStatusOf(calls, isOnline),
    loggedOn: standing.statusCode !== Status.offline,
    until: overlay === null ? (temporary?.until ?? null) : overlay.kind === 'wrap-up' ? overlay.until : null,
    // A person's own words go with what the person has set, whatever call lies over it.
    message: set.message,
    location: set.location,
  }
}

const OVERLAY_STATUS = { call: Status.onThePhone, 'wrap-up': Status.afterCallWork }

function deviceStatusOf(calls: readonly AgentCall[], isOnline: boolean): DeviceStatus {
  if (!isOnline) return DeviceStatus.unavailable
  if (calls.length === 0) return DeviceStatus.idle
  const others = calls.filter(({ state }) => state !== CallState.alerting)
  if (others.length < calls.length) return others.length === 0 ? DeviceStatus.ringing : DeviceStatus.ringInUse
  return calls.every(({ state }) => state === CallState.held) ? DeviceStatus.onHold : DeviceStatus.inUse
}
