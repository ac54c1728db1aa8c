import { type CallId, CallState, EndReason, TransferStatus } from '@switchhook/contracts'
import type { Ending, LegReport } from '../platform.ts'
import type { SwitchedCall } from './call-group.ts'
import { type Board, type EndedByWhom } from './draft.ts'
import { ENDINGS } from './end-reasons.ts'
import { customerLeg, originalOf } from './parties.ts'

type How = Omit<Ending, 'endedBy'>

/** Says how far the transfer has got, on the legs of its agent and of the customer. */
export function tellTransfer(
  board: Board,
  call: SwitchedCall,
  status: TransferStatus,
  more: Partial<LegReport> = {},
): void {
  const by = call.transfer?.by
  if (by === undefined) return
  for (const leg of [board.leg(call.callId, by), customerLeg(board, call, by)]) {
    if (leg?.transfer != null) board.tell(leg, { ...more, transfer: { ...leg.transfer, status } })
  }
}

/** The call comes back to the agent who wanted to transfer it. */
export function comeBack(board: Board, call: SwitchedCall, status: TransferStatus, failReason: EndReason): void {
  const by = call.transfer?.by
  if (by === undefined) return
  const mine = board.leg(call.callId, by)
  const customers = customerLeg(board, call, by)
  board.put({ ...call, transfer: null })
  const outcome = (leg: LegReport) => leg.transfer && { ...leg.transfer, status, failReason }
  if (mine !== undefined) {
    board.tell(mine, { state: CallState.connected, transfer: outcome(mine), consultation: null })
  }
  if (customers !== undefined) board.tell(customers, { remoteHeld: false, transfer: outcome(customers) })
}

/**
 * Ends a call with all its legs, the target's that is being rung included. A transfer of it is over; its consultation
 * goes on as an ordinary call. The end of a consultation brings the original call back to its agent.
 */
export function endCall(board: Board, call: SwitchedCall, ending: How, by: EndedByWhom): void {
  const { callId, transfer } = call
  const original = originalOf(board, call)
  const wasAnswered = call.phase === 'talking'
  board.put({ ...call, phase: 'over', transfer: null })
  const cancelled = transfer === null ? {} : { status: TransferStatus.cancelled }
  for (const leg of board.legsOf(callId)) {
    board.end(leg, endingOf(leg, ending), by, { transfer: leg.transfer && { ...leg.transfer, ...cancelled } })
  }
  if (transfer?.ringsIn != null && transfer.ringsIn !== callId) endRinging(board, transfer.ringsIn, ending, by)
  const consultation = board.call(transfer?.consultation ?? null)
  if (consultation !== undefined) leaveAlone(board, consultation)
  if (original === undefined) return
  const status = wasAnswered ? TransferStatus.cancelled : TransferStatus.failed
  comeBack(board, original, status, wasAnswered ? EndReason.none : ending.endReason)
}

/** The leg of a target who is rung in a call of his own. */
export function endRinging(board: Board, callId: CallId, ending: How, by: EndedByWhom): void {
  const call = board.call(callId)
  if (call === undefined) return
  board.put({ ...call, phase: 'over' })
  for (const leg of board.legsOf(callId)) board.end(leg, endingOf(leg, ending), by)
}

/** A consultation whose customer has gone is a call like any other. */
function leaveAlone(board: Board, consultation: SwitchedCall): void {
  board.put({ ...consultation, forCallId: null })
  for (const leg of board.legsOf(consultation.callId)) board.tell(leg, { consultation: null })
}

/** A leg that only rings does not end normally when the others do. */
const endingOf = (leg: LegReport, ending: How): How =>
  leg.state === CallState.alerting && ending.endReason === EndReason.normal ? ENDINGS.cancelled : ending
