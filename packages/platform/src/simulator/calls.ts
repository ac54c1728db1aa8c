import { type CallId, CallState, Direction, Role, TransferStatus } from '@switchhook/contracts'
import type { DeviceState, RemoteAction, SwitchedCall } from './call-group.ts'
import { behaviourOf } from './destinations.ts'
import type { Board } from './draft.ts'
import { ENDINGS } from './end-reasons.ts'
import { endCall, tellTransfer } from './ending.ts'
import { originalOf } from './parties.ts'
import { connect } from './talking.ts'
import { RING_OUT_MS } from './timing.ts'
import { targetAnswered } from './transfers.ts'

/** Finds the called party and rings it, or ends the call. */
export function route(board: Board, call: SwitchedCall, deviceOf: (agentUri: string) => DeviceState): void {
  if (call.phase !== 'seized') return
  const { caller, called, callId } = call
  if (called.kind === 'agent') {
    const device = deviceOf(called.agentUri)
    if (device !== 'free')
      return endCall(board, call, device === 'busy' ? ENDINGS.busy : ENDINGS.deviceUnavailable, 'outside')
    farEndRings(board, call)
    board.open(call, called, caller, {
      state: CallState.alerting,
      direction: Direction.inbound,
      role: call.forCallId === null ? Role.destination : Role.consultant,
      consultation: call.forCallId === null ? null : { forCallId: call.forCallId },
    })
    return board.later({ kind: 'ring-out', callId }, RING_OUT_MS)
  }
  const behaviour = behaviourOf(called.address)
  if (behaviour.kind === 'fails') return endCall(board, call, behaviour.ending, 'outside')
  farEndRings(board, call)
  if (behaviour.kind === 'rings-out') board.later({ kind: 'ring-out', callId }, RING_OUT_MS)
  else board.later({ kind: 'remote', callId, action: 'answer' }, behaviour.afterMs)
}

function farEndRings(board: Board, call: SwitchedCall): void {
  board.put({ ...call, phase: 'ringing' })
  if (call.caller.kind === 'agent') {
    board.tell(board.leg(call.callId, call.caller.agentUri), { state: CallState.proceeding })
  }
  const original = originalOf(board, call)
  if (original !== undefined) tellTransfer(board, original, TransferStatus.ringing)
}

/** Nobody answered in time: the switch ends it; a caller from outside gives up. */
export function ringOut(board: Board, call: SwitchedCall): void {
  if (call.phase !== 'ringing') return
  if (call.caller.kind === 'outside') endCall(board, call, ENDINGS.cancelled, 'outside')
  else endCall(board, call, ENDINGS.noAnswer, 'switch')
}

/** The outside party of a call does something. */
export function remote(board: Board, call: SwitchedCall, action: RemoteAction): void {
  const isCaller = call.caller.kind === 'outside'
  if (!isCaller && call.called.kind === 'agent') return
  if (action === 'answer') {
    if (call.phase === 'ringing' && !isCaller) connect(board, call)
  } else if (action === 'hangup') {
    const unanswered = isCaller ? ENDINGS.cancelled : ENDINGS.rejected
    endCall(board, call, call.phase === 'talking' ? ENDINGS.normal : unanswered, 'outside')
  } else if (call.phase === 'talking') {
    for (const leg of board.legsOf(call.callId)) {
      if (leg.remoteHeld !== (action === 'hold')) board.tell(leg, { remoteHeld: action === 'hold' })
    }
  }
}

/** The agent takes a call that rings at his device. */
export function answer(board: Board, callId: CallId, agentUri: string): void {
  const call = board.call(callId)
  if (call === undefined || board.leg(callId, agentUri)?.state !== CallState.alerting) return
  const transferred = board.transferRingingIn(callId)
  if (transferred === undefined) connect(board, call)
  else targetAnswered(board, transferred)
}
