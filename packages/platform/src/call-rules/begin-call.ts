import { CallState, type CommandId, Direction, LegRole, type Tenant } from '@switchhook/contracts'
import { type Call, type CallGroup, newCall, type StepResult } from './call-group.ts'
import { RING_OUT_MS, ROUTING_MS } from './destinations.ts'
import { Draft } from './draft.ts'

interface NewCall extends Pick<Call, 'callId' | 'caller' | 'called'> {
  readonly tenant: Tenant
  /** ISO 8601, UTC. */
  readonly at: string
}

function begin({ tenant, callId, caller, called, at }: NewCall, commandId: CommandId | null, more: Partial<Call>) {
  const empty: CallGroup = { tenant, sessionId: callId, step: 0, calls: {}, legs: [], commands: [] }
  const draft = new Draft(empty, { at, commandId })
  const phase = caller.kind === 'agent' ? 'seized' : 'ringing'
  const call = draft.putCall(newCall({ callId, phase, caller, called, ...more }))
  return { draft, call }
}

export function beginDial(
  dialled: NewCall,
  dial: { readonly commandId: CommandId | null; readonly cli: string | null; readonly correlationId: string | null },
): StepResult {
  const { commandId, cli, correlationId } = dial
  const { draft, call } = begin(dialled, commandId, { cli, correlationId })
  draft.addLeg(call, dialled.caller, dialled.called, {
    state: CallState.initiated,
    direction: Direction.outbound,
    role: LegRole.originator,
  })
  draft.schedule({ kind: 'route', callId: dialled.callId }, ROUTING_MS)
  return draft.finish()
}

/** A call from an outside party. null: the default time. */
export interface InboundCall {
  readonly from: string
  readonly ringForMs: number | null
  readonly talkForMs: number | null
}

export function beginInbound(inbound: NewCall, { ringForMs, talkForMs }: Omit<InboundCall, 'from'>): StepResult {
  const { draft, call } = begin(inbound, null, { talkMs: talkForMs })
  draft.addLeg(call, inbound.called, inbound.caller, {
    state: CallState.alerting,
    direction: Direction.inbound,
    role: LegRole.destination,
  })
  draft.schedule({ kind: 'ring-out', callId: inbound.callId }, ringForMs ?? RING_OUT_MS)
  return draft.finish()
}
