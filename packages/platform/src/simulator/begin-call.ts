import { type CallId, CallState, type CommandId, Direction, LegRole, type Tenant } from '@switchhook/contracts'
import type { CallGroup, Party, StepResult } from './call-group.ts'
import { RING_OUT_MS, ROUTING_MS } from './destinations.ts'
import { Draft } from './draft.ts'

interface NewCall {
  readonly tenant: Tenant
  readonly callId: CallId
  readonly caller: Party
  readonly called: Party
  /** ISO 8601, UTC. */
  readonly at: string
}

function begin(
  { tenant, callId, caller, called, at }: NewCall,
  commandId: CommandId | null,
  more: { readonly cli: string | null; readonly correlationId: string | null; readonly talkMs: number | null },
) {
  const empty: CallGroup = { tenant, sessionId: callId, step: 0, calls: {}, legs: [], commands: [] }
  const draft = new Draft(empty, { at, commandId })
  const phase = caller.kind === 'agent' ? 'seized' : 'ringing'
  const call = draft.putCall({ callId, phase, caller, called, forCallId: null, transfer: null, ...more })
  return { draft, call }
}

/** An agent dials. */
export function beginDial(
  newCall: NewCall,
  dial: { readonly commandId: CommandId | null; readonly cli: string | null; readonly correlationId: string | null },
): StepResult {
  const { draft, call } = begin(newCall, dial.commandId, {
    cli: dial.cli,
    correlationId: dial.correlationId,
    talkMs: null,
  })
  draft.addLeg(call, newCall.caller, newCall.called, {
    state: CallState.initiated,
    direction: Direction.outbound,
    role: LegRole.originator,
  })
  draft.schedule({ kind: 'route', callId: newCall.callId }, ROUTING_MS)
  return draft.finish()
}

/** An outside caller rings an agent. null: the default ringing and talking times. */
export function beginInbound(
  newCall: NewCall,
  customer: { readonly ringForMs: number | null; readonly talkForMs: number | null },
): StepResult {
  const { draft, call } = begin(newCall, null, { cli: null, correlationId: null, talkMs: customer.talkForMs })
  draft.addLeg(call, newCall.called, newCall.caller, {
    state: CallState.alerting,
    direction: Direction.inbound,
    role: LegRole.destination,
  })
  draft.schedule({ kind: 'ring-out', callId: newCall.callId }, customer.ringForMs ?? RING_OUT_MS)
  return draft.finish()
}
