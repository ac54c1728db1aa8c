import { type CallId, CallState, DeviceStatus, Status, type Tenant } from '@switchhook/contracts'
import type { StateStore } from '@switchhook/store'

export interface PresenceSetting {
  readonly statusCode: number
  /** ISO 8601, UTC; null: until the next setting. */
  readonly until: string | null
  readonly message: string | null
  readonly location: string | null
}

export interface AgentCall {
  readonly callId: CallId
  readonly state: CallState
}

/** An agent as stored. The status that clients set and the status that calls cause are kept apart. */
export interface Agent {
  readonly agentUri: string
  /** `sequence` of the latest event; 0: no event yet. */
  readonly sequence: number
  /** `occurredAt` of the latest event; null: no event yet. */
  readonly lastEventAt: string | null
  /** When the effective status began; null: as provisioned. */
  readonly since: string | null
  /** The latest status set without `until`; every other status reverts to it. */
  readonly standing: Omit<PresenceSetting, 'until'>
  readonly temporary: (PresenceSetting & { readonly until: string }) | null
  /** Set during a call; takes effect after the call and its after-call work. */
  readonly pending: PresenceSetting | null
  /** The status that the agent's calls cause. It hides the status that was set. */
  readonly overlay:
    | { readonly kind: 'call'; readonly isAnswered: boolean }
    | { readonly kind: 'wrap-up'; readonly until: string }
    | null
  /** Oldest first. */
  readonly calls: readonly AgentCall[]
  /** Accepted dials that the platform has not reported yet. */
  readonly reserved: readonly { readonly callId: CallId; readonly at: string }[]
  readonly isOnline: boolean
  /** `order` of the latest device report. */
  readonly deviceOrder: number
}

/** An agent as provisioned, before the first event. */
export const newAgent = (agentUri: string): Agent => ({
  agentUri,
  sequence: 0,
  lastEventAt: null,
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

/** Key of the record within its tenant (`StateStore` of packages/store). */
export const agentKey = (agentUri: string): string => `agent:${agentUri}`

export const agentOf = (stored: unknown, agentUri: string): Agent => (stored as Agent | undefined) ?? newAgent(agentUri)

/** Resolves to a new agent if none is stored. */
export async function readAgent(store: Pick<StateStore, 'read'>, tenant: Tenant, agentUri: string): Promise<Agent> {
  const [stored] = await store.read(tenant, [agentKey(agentUri)])
  return agentOf(stored?.value, agentUri)
}

/** A dial that never reached the platform, because the process died, reserves the device for at most this time. */
const RESERVATION_MS = 15_000

export const freshReservations = ({ reserved }: Pick<Agent, 'reserved'>, nowMs: number): Agent['reserved'] =>
  reserved.filter(({ at }) => nowMs - Date.parse(at) < RESERVATION_MS)

/** The agent's live calls. An accepted dial counts as initiated until the platform has reported it. */
export const liveCallsOf = (agent: Pick<Agent, 'calls' | 'reserved'>, nowMs: number): readonly AgentCall[] => [
  ...agent.calls,
  ...freshReservations(agent, nowMs).map(({ callId }) => ({ callId, state: CallState.initiated })),
]

/** The public state of an agent. Effective status = overlay, else temporary, else standing. */
export function viewOf({ standing, temporary, pending, overlay, calls, isOnline }: Agent) {
  const set = temporary ?? standing
  return {
    statusCode: overlay === null ? set.statusCode : OVERLAY_STATUS[overlay.kind],
    standingStatusCode: standing.statusCode,
    pendingStatusCode: pending?.statusCode ?? null,
    deviceStatus: deviceStatusOf(calls, isOnline),
    loggedOn: standing.statusCode !== Status.offline,
    until: overlay === null ? (temporary?.until ?? null) : overlay.kind === 'wrap-up' ? overlay.until : null,
    // These belong to the status that was set, and stay visible during a call.
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
