import { type CallId, EndReason } from '@switchhook/contracts'
import type { SwitchedCall, SwitchedTransfer } from './call-group.ts'
import type { Board } from './draft.ts'
import { ENDINGS } from './end-reasons.ts'
import { endCall } from './ending.ts'
import { originalOf } from './parties.ts'
import { ROUTING_MS } from './timing.ts'
import {
  cancelTransfer,
  endTransferred,
  handOver,
  ringOn,
  stopRinging,
  targetFailed,
  targetsCallId,
} from './transfers.ts'

/** How the agent leaves the transfer. */
type Leaving = 'completed' | 'device gone'

/**
 * The agent leaves an attended transfer. Once the target has answered, it gets the customer; while it rings, or is about to,
 * it is rung for the customer from now on, and the agent's leg stays on hold until it answers, so that the customer can
 * come back.
 */
export function completeTransfer(board: Board, call: SwitchedCall, leaving: Leaving = 'completed'): void {
  const { transfer } = call
  const consultation = board.call(transfer?.consultation ?? null)
  if (transfer === null || consultation === undefined) return
  const { by } = transfer
  board.put({ ...consultation, phase: 'over' })
  const mine = board.leg(consultation.callId, by)
  if (leaving === 'completed') endTransferred(board, mine, by)
  else board.end(mine, ENDINGS.deviceUnavailable, 'switch')
  for (const leg of board.legsOf(consultation.callId)) endTransferred(board, leg, by)

  const original = board.leg(call.callId, by)
  if (consultation.phase === 'talking') {
    if (leaving === 'completed') endTransferred(board, original, by)
    else board.end(original, ENDINGS.deviceUnavailable, 'switch')
    return handOver(board, call, transfer, targetsCallId(board, call, transfer))
  }
  if (leaving === 'completed') board.tell(original, { consultation: null })
  else board.end(original, ENDINGS.deviceUnavailable, 'switch')
  const alone: SwitchedTransfer = { ...transfer, consultation: null, isAbandoned: leaving === 'device gone' }
  const handed = board.put({ ...call, transfer: alone })
  if (consultation.phase === 'ringing') ringOn(board, handed)
  else board.later({ kind: 'transfer-route', callId: call.callId }, ROUTING_MS)
}

/** An agent hangs up one of his legs: what that means depends on the transfer that it takes part in. */
export function hangup(board: Board, callId: CallId, agentUri: string): void {
  const call = board.call(callId)
  if (call === undefined || board.leg(callId, agentUri) === undefined) return
  const transferred = board.transferRingingIn(callId)
  if (transferred?.transfer?.target.kind === 'agent' && transferred.transfer.target.agentUri === agentUri) {
    stopRinging(board, transferred, 'rejected')
    return targetFailed(board, transferred, EndReason.rejected)
  }
  const original = originalOf(board, call)
  if (original?.transfer?.by === agentUri) {
    if (call.phase === 'seized') cancelTransfer(board, original)
    else completeTransfer(board, original)
    return
  }
  if (call.transfer?.by === agentUri) {
    if (call.transfer.consultation !== null) return completeTransfer(board, call)
    return leaveTransfer(board, call, 'completed')
  }
  const unanswered = call.caller.kind === 'agent' && call.caller.agentUri === agentUri ? 'cancelled' : 'rejected'
  endCall(board, call, ENDINGS[call.phase === 'talking' ? 'normal' : unanswered], { agentUri })
}

/** The agent does not wait for the target: the customer does, alone. */
function leaveTransfer(board: Board, call: SwitchedCall, leaving: Leaving): void {
  const { transfer } = call
  if (transfer === null) return
  const leg = board.leg(call.callId, transfer.by)
  if (leaving === 'completed') board.end(leg, ENDINGS.transferred, { agentUri: transfer.by })
  else board.end(leg, ENDINGS.deviceUnavailable, 'switch')
  board.put({ ...call, transfer: { ...transfer, isAbandoned: true } })
}

/** The agent's device cannot be reached any more: transfers under way go on without the agent, his other calls end. */
export function deviceGone(board: Board, agentUri: string): void {
  for (const { callId } of board.callsOf(agentUri)) {
    const call = board.call(callId)
    if (call?.transfer?.by !== agentUri) continue
    if (call.transfer.consultation === null) leaveTransfer(board, call, 'device gone')
    else completeTransfer(board, call, 'device gone')
  }
  for (const { callId } of board.callsOf(agentUri)) {
    const call = board.call(callId)
    const transferred = board.transferRingingIn(callId)
    if (transferred?.transfer?.target.kind === 'agent' && transferred.transfer.target.agentUri === agentUri) {
      stopRinging(board, transferred, 'noAnswer')
      targetFailed(board, transferred, EndReason.deviceUnavailable)
    } else if (call !== undefined) {
      endCall(board, call, ENDINGS.deviceUnavailable, 'switch')
    }
  }
}
