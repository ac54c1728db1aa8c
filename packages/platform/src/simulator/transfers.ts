import {
  type CallId,
  CallState,
  Direction,
  EndReason,
  Role,
  type Transfer,
  TransferRole,
  TransferStatus,
} from '@switchhook/contracts'
import type { LegReport } from '../platform.ts'
import type { DeviceState, LegCue, Party, SwitchedCall, SwitchedTransfer } from './call-group.ts'
import { behaviourOf } from './destinations.ts'
import { type Board, remotePartyOf } from './draft.ts'
import { ENDINGS } from './end-reasons.ts'
import { comeBack, endCall, endRinging, tellTransfer } from './ending.ts'
import { customerLeg, otherParty } from './parties.ts'
import { talkFor } from './talking.ts'
import { RING_OUT_MS, ROUTING_MS } from './timing.ts'

/** The agent puts the customer on hold, and the target is called: for the customer at once, or to be consulted first. */
export function beginTransfer(board: Board, call: SwitchedCall, cue: Extract<LegCue, { kind: 'transfer' }>): void {
  const { agentUri, target, consultationCallId, correlationId } = cue
  const { asked, ...party } = target
  const transfer: SwitchedTransfer = {
    by: agentUri,
    target: party,
    ringsIn: null,
    consultation: consultationCallId,
    isAbandoned: false,
  }
  const held = board.put({ ...call, transfer, correlationId: correlationId ?? call.correlationId })
  const told: Transfer = {
    blind: consultationCallId === null,
    target: asked,
    role: TransferRole.transferring,
    status: TransferStatus.started,
    failReason: EndReason.none,
    otherCallId: consultationCallId,
  }
  board.tell(board.leg(call.callId, agentUri), {
    state: CallState.held,
    transfer: told,
    consultation: consultationCallId === null ? null : { callId: consultationCallId, target: asked },
    correlationId: held.correlationId,
  })
  board.tell(customerLeg(board, held, agentUri), {
    remoteHeld: true,
    transfer: { ...told, role: TransferRole.transferred },
    correlationId: held.correlationId,
  })
  if (consultationCallId === null) board.later({ kind: 'transfer-route', callId: call.callId }, ROUTING_MS)
  else consult(board, held, consultationCallId, agentUri, party)
}

function consult(board: Board, original: SwitchedCall, callId: CallId, agentUri: string, target: Party): void {
  const device = board.leg(original.callId, agentUri)?.device ?? null
  const caller: Party = { kind: 'agent', agentUri, device }
  const consultation = board.put({
    callId,
    phase: 'seized',
    caller,
    called: target,
    cli: null,
    correlationId: original.correlationId,
    talkMs: null,
    forCallId: original.callId,
    transfer: null,
  })
  board.open(consultation, caller, target, {
    state: CallState.initiated,
    direction: Direction.outbound,
    role: Role.originator,
    consultation: { forCallId: original.callId },
  })
  board.later({ kind: 'route', callId }, ROUTING_MS)
}

/** Rings the target of a blind transfer for the customer, or brings the call back. */
export function routeTransfer(board: Board, call: SwitchedCall, deviceOf: (agentUri: string) => DeviceState): void {
  const { transfer, callId } = call
  if (transfer === null || transfer.consultation !== null || transfer.ringsIn !== null) return
  if (transfer.target.kind === 'agent') {
    const device = deviceOf(transfer.target.agentUri)
    if (device === 'busy') return targetFailed(board, call, EndReason.busy)
    if (device === 'offline') return targetFailed(board, call, EndReason.deviceUnavailable)
    return ringTarget(board, call, transfer)
  }
  const behaviour = behaviourOf(transfer.target.address)
  if (behaviour.kind === 'fails') return targetFailed(board, call, behaviour.ending.endReason)
  ringTarget(board, call, transfer)
  if (behaviour.kind === 'answers') board.later({ kind: 'transfer-answer', callId }, behaviour.afterMs)
}

/** After a consultation: the target that rings already goes on ringing, for the customer. */
export function ringOn(board: Board, call: SwitchedCall): void {
  const { transfer, callId } = call
  if (transfer === null) return
  ringTarget(board, call, transfer)
  const behaviour = transfer.target.kind === 'outside' ? behaviourOf(transfer.target.address) : undefined
  if (behaviour?.kind === 'answers') board.later({ kind: 'transfer-answer', callId }, behaviour.afterMs)
}

function ringTarget(board: Board, call: SwitchedCall, transfer: SwitchedTransfer): void {
  const { target, by } = transfer
  const customer = otherParty(call, by)
  const ringsIn = targetsCallId(board, call, transfer)
  const ringing: SwitchedCall = { ...call, callId: ringsIn, caller: customer, called: target }
  if (ringsIn !== call.callId) board.put({ ...ringing, phase: 'ringing', transfer: null })
  board.put({ ...call, transfer: { ...transfer, ringsIn } })
  board.open(ringing, target, customer, {
    state: CallState.alerting,
    direction: Direction.inbound,
    role: Role.transferTarget,
    transfer: targetsView(board, call, transfer, { inCall: ringsIn, status: TransferStatus.ringing }),
  })
  tellTransfer(board, { ...call, transfer }, TransferStatus.ringing)
  board.later({ kind: 'transfer-ring-out', callId: call.callId }, RING_OUT_MS)
}

/** Where the target's leg is: an agent whose leg in the call has ended cannot get another one there. */
export function targetsCallId(board: Board, { callId }: SwitchedCall, { target }: SwitchedTransfer): CallId {
  return target.kind === 'agent' && board.hasHadLeg(callId, target.agentUri) ? board.ownCallId(callId) : callId
}

/** The transfer as its target sees it; from a call of its own, with the id of the call that is transferred. */
function targetsView(
  board: Board,
  { callId }: SwitchedCall,
  { by }: SwitchedTransfer,
  { inCall, status }: { readonly inCall: CallId; readonly status: TransferStatus },
): Transfer | null {
  const seen = board.lastTransferOf(callId, by)
  const otherCallId = inCall === callId ? (seen?.otherCallId ?? null) : callId
  return seen && { ...seen, role: TransferRole.target, status, failReason: EndReason.none, otherCallId }
}

/** Busy, declined, not answered: the customer goes back to the agent, or has nobody left if the agent has gone. */
export function targetFailed(board: Board, call: SwitchedCall, reason: EndReason): void {
  const { transfer } = call
  if (transfer === null) return
  if (transfer.isAbandoned) endCall(board, call, { endReason: reason, cause: null, sipCode: null }, 'switch')
  else comeBack(board, call, TransferStatus.failed, reason)
}

/** The target takes the call over from the agent. */
export function targetAnswered(board: Board, call: SwitchedCall): void {
  const { transfer } = call
  if (transfer?.ringsIn == null) return
  const mine = board.leg(call.callId, transfer.by)
  if (mine !== undefined) endTransferred(board, mine, transfer.by)
  handOver(board, call, transfer, transfer.ringsIn)
}

export function endTransferred(board: Board, leg: LegReport | undefined, by: string): void {
  const transfer = leg?.transfer && { ...leg.transfer, status: TransferStatus.completed }
  board.end(leg, ENDINGS.transferred, { agentUri: by }, { transfer: transfer ?? null })
}

/** Customer and target talk from now on; `inCall` is where the target's leg is. */
export function handOver(board: Board, call: SwitchedCall, transfer: SwitchedTransfer, inCall: CallId): void {
  const { by, target } = transfer
  const customer = otherParty(call, by)
  const told = targetsView(board, call, transfer, { inCall, status: TransferStatus.completed })
  const next: SwitchedCall = {
    ...call,
    callId: inCall,
    phase: customer.kind === 'outside' && target.kind === 'outside' ? 'over' : 'talking',
    caller: customer,
    called: target,
    transfer: null,
  }
  if (inCall !== call.callId) board.put({ ...call, phase: 'over', transfer: null })
  board.put(next)
  const customers = customer.kind === 'agent' ? board.leg(call.callId, customer.agentUri) : undefined
  const passed = customers?.transfer ? { ...customers.transfer, status: TransferStatus.completed } : null
  if (inCall === call.callId) {
    const other = { internal: target.kind === 'agent', remoteParty: remotePartyOf(target) }
    board.tell(customers, { ...other, remoteHeld: false, transfer: passed })
  } else if (customers !== undefined) {
    // The target cannot come into this call, so a customer who is an agent goes along into the target's.
    board.end(customers, ENDINGS.transferred, { agentUri: by }, { transfer: passed })
    const { direction, role } = customers
    const transferred = passed && { ...passed, otherCallId: call.callId }
    board.open(next, customer, target, { state: CallState.connected, direction, role, transfer: transferred })
  }
  if (target.kind === 'outside') return talkFor(board, next, target)
  const ringing = board.leg(inCall, target.agentUri)
  if (ringing !== undefined) return board.tell(ringing, { state: CallState.connected, transfer: told })
  board.open(next, target, customer, {
    state: CallState.connected,
    direction: Direction.inbound,
    role: Role.transferTarget,
    transfer: told,
  })
}

/** The target's leg while it is rung for the customer ends; the call itself goes on. */
export function stopRinging(board: Board, call: SwitchedCall, how: 'cancelled' | 'rejected' | 'noAnswer'): void {
  const { transfer, callId } = call
  if (transfer?.ringsIn == null || transfer.target.kind === 'outside') return
  const { agentUri } = transfer.target
  const by = how === 'rejected' ? { agentUri } : how === 'noAnswer' ? 'switch' : { agentUri: transfer.by }
  if (transfer.ringsIn === callId) board.end(board.leg(callId, agentUri), ENDINGS[how], by)
  else endRinging(board, transfer.ringsIn, ENDINGS[how], by)
}

/** The agent takes the call back, from whatever stage of the transfer. */
export function cancelTransfer(board: Board, call: SwitchedCall): void {
  const { transfer } = call
  if (transfer === null) return
  stopRinging(board, call, 'cancelled')
  comeBack(board, call, TransferStatus.cancelled, EndReason.none)
  const consultation = board.call(transfer.consultation)
  if (consultation !== undefined) endCall(board, consultation, ENDINGS.cancelled, { agentUri: transfer.by })
}
