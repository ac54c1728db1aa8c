import { type CallId, CallState, type CallStatus, type CommandId, EndedBy, EndReason } from '@switchhook/contracts'
import type { Fact, LegEnded, LegOpened } from '@switchhook/platform'

/** A call as it is stored: what the dial said, and the latest snapshot of each agent's leg. */
export interface Call {
  readonly callId: CallId
  readonly tenant: string | null
  /** The agent who dialled; null: the call came from outside. */
  readonly originator: string | null
  readonly cli: string | null
  readonly correlationId: string | null
  readonly dialCommandId: CommandId | null
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** By agentUri. */
  readonly legs: Readonly<Record<string, CallStatus>>
}

/** Where a leg may go from where it is. Nothing leaves `ended`; a leg may end from everywhere. */
const NEXT: Readonly<Record<CallState, readonly CallState[]>> = {
  [CallState.unknown]: [],
  [CallState.initiated]: [CallState.proceeding, CallState.connected, CallState.ended],
  [CallState.alerting]: [CallState.connected, CallState.ended],
  [CallState.connected]: [CallState.ended],
  [CallState.held]: [CallState.connected, CallState.ended],
  [CallState.queued]: [],
  [CallState.failed]: [],
  [CallState.ended]: [],
  [CallState.proceeding]: [CallState.connected, CallState.ended],
}

/**
 * What a fact makes of a call: the call with the leg's next snapshot, or undefined when the fact changes nothing, because
 * it was told before or cannot be true any more. Pure; what comes out of it is the one truth about a call.
 */
export function applyFact(call: Call, fact: Fact): { readonly call: Call; readonly status: CallStatus } | undefined {
  const leg = call.legs[fact.agentUri]
  const status = leg === undefined ? firstStatus(call, fact) : nextStatus(leg, fact)
  return status && { call: { ...call, legs: { ...call.legs, [fact.agentUri]: status } }, status }
}

/** Is anybody in it? Nobody is before the first leg has begun, nor after the last one has ended. */
export function isLive(call: Call): boolean {
  return Object.values(call.legs).some((leg) => leg.state !== CallState.ended)
}

function firstStatus(call: Call, fact: Fact): CallStatus | undefined {
  if (fact.kind !== 'opened') return undefined
  return {
    callId: call.callId,
    agentUri: fact.agentUri,
    state: openingState(fact),
    previousState: CallState.unknown,
    sequence: 1,
    occurredAt: fact.at,
    direction: fact.direction,
    internal: fact.internal,
    role: fact.role,
    remoteParty: fact.remoteParty,
    cli: call.cli,
    device: fact.device,
    correlationId: call.correlationId,
    commandId: fact.commandId,
    held: false,
    remoteHeld: false,
    startedAt: fact.at,
    answeredAt: null,
    endedAt: null,
    durationSeconds: null,
    endReason: EndReason.none,
    endedBy: EndedBy.unknown,
    cause: null,
    sipCode: null,
    transfer: null,
    consultation: null,
    commandResult: null,
  }
}

const openingState = ({ direction }: LegOpened): CallState =>
  direction === 1 ? CallState.alerting : CallState.initiated

function nextStatus(leg: CallStatus, fact: Fact): CallStatus | undefined {
  if (fact.kind === 'opened') return undefined
  const state = STATE_AFTER[fact.kind]
  if (!NEXT[leg.state].includes(state)) return undefined
  const moved: CallStatus = {
    ...leg,
    state,
    previousState: leg.state,
    sequence: leg.sequence + 1,
    occurredAt: fact.at,
    commandId: fact.commandId,
    answeredAt: state === CallState.connected ? (leg.answeredAt ?? fact.at) : leg.answeredAt,
  }
  return fact.kind === 'ended' ? endedStatus(moved, fact) : moved
}

/** Where a leg is once it has been told so. */
const STATE_AFTER = {
  proceeding: CallState.proceeding,
  connected: CallState.connected,
  ended: CallState.ended,
} as const

function endedStatus(moved: CallStatus, { at, endReason, endedBy, cause, sipCode }: LegEnded): CallStatus {
  const talkMs = moved.answeredAt === null ? 0 : Date.parse(at) - Date.parse(moved.answeredAt)
  return {
    ...moved,
    held: false,
    remoteHeld: false,
    endedAt: at,
    durationSeconds: Math.max(0, Math.round(talkMs / 1_000)),
    endReason,
    endedBy,
    cause,
    sipCode,
  }
}
