import { type CallId, CallState, type CommandId, Direction, Role } from '@switchhook/contracts'
import type { Party, Played, Session } from './call-group.ts'
import { Board } from './draft.ts'
import { RING_OUT_MS, ROUTING_MS } from './timing.ts'

interface NewCall {
  readonly tenant: string | null
  readonly callId: CallId
  readonly caller: Party
  readonly called: Party
  readonly at: string
}

function begin(
  { tenant, callId, caller, called, at }: NewCall,
  commandId: CommandId | null,
  more: { readonly cli: string | null; readonly correlationId: string | null; readonly talkMs: number | null },
) {
  const empty: Session = { tenant, sessionId: callId, step: 0, calls: {}, legs: [], commands: [] }
  const board = new Board(empty, at, commandId)
  const phase = caller.kind === 'agent' ? 'seized' : 'ringing'
  const call = board.put({ callId, phase, caller, called, forCallId: null, transfer: null, ...more })
  return { board, call }
}

/** An agent dials. */
export function newDial(
  ends: NewCall,
  dial: { readonly commandId: CommandId | null; readonly cli: string | null; readonly correlationId: string | null },
): Played {
  const { board, call } = begin(ends, dial.commandId, {
    cli: dial.cli,
    correlationId: dial.correlationId,
    talkMs: null,
  })
  board.open(call, ends.caller, ends.called, {
    state: CallState.initiated,
    direction: Direction.outbound,
    role: Role.originator,
  })
  board.later({ kind: 'route', callId: ends.callId }, ROUTING_MS)
  return board.finish()
}

/** Somebody outside calls an agent, and has so much patience. */
export function newInbound(
  ends: NewCall,
  customer: { readonly ringForMs: number | null; readonly talkForMs: number | null },
): Played {
  const { board, call } = begin(ends, null, { cli: null, correlationId: null, talkMs: customer.talkForMs })
  board.open(call, ends.called, ends.caller, {
    state: CallState.alerting,
    direction: Direction.inbound,
    role: Role.destination,
  })
  board.later({ kind: 'ring-out', callId: ends.callId }, customer.ringForMs ?? RING_OUT_MS)
  return board.finish()
}
