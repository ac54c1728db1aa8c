import {
  type CallId,
  CallState,
  Direction,
  EndReason,
  LegRole,
  type Transfer,
  TransferRole,
  TransferStatus,
} from '@switchhook/contracts'
import type { LegReport } from '../platform.ts'
import type { AgentStep, Call, DeviceState, HowEnded, Party, PendingTransfer } from './call-group.ts'
import { ENDINGS, isAgent, newCall, otherParty } from './call-group.ts'
import { endCall, missCall, type Return, reportTransfer, returnToAgent, scheduleBehaviour } from './calls.ts'
import { answerOf, failureOf, RING_OUT_MS, ROUTING_MS, remotePartyOf } from './destinations.ts'
import type { Draft, EndedByParty } from './draft.ts'

// The roles of a transfer: the agent transfers the customer (who can be another agent) to the target.

/** Holds the customer, then calls the target: blind for the customer, attended in a consultation call. */
export function beginTransfer(draft: Draft, call: Call, step: Extract<AgentStep, { kind: 'transfer' }>): void {
  const { agentUri, target, consultationCallId, correlationId } = step
  const { asked, ...party } = target
  const pending: PendingTransfer = {
    by: agentUri,
    target: party,
    ringsIn: null,
    consultation: consultationCallId,
    isAbandoned: false,
    begunAt: draft.step,
  }
  const held = draft.putCall({ ...call, transfer: pending, correlationId: correlationId ?? call.correlationId })
  reportBegun(draft, held, asked, TransferStatus.started, { correlationId: held.correlationId })
  if (consultationCallId === null) scheduleTransfer(draft, held, 'transfer-route', ROUTING_MS)
  else beginConsultation(draft, held, consultationCallId, agentUri, party, step.cli ?? null)
}

/** Reports a transfer that has begun, on the legs of the agent and of a customer who is an agent. The customer is on hold. */
export function reportBegun(
  draft: Draft,
  call: Call,
  asked: string,
  status: TransferStatus,
  change: Partial<LegReport> = {},
): void {
  if (call.transfer === null) return
  const { by, consultation: callId } = call.transfer
  const transfer: Transfer = {
    blind: callId === null,
    target: asked,
    role: TransferRole.transferring,
    status,
    failReason: EndReason.none,
    otherCallId: callId,
  }
  const consultation = callId === null ? null : { callId, target: asked }
  draft.report(draft.leg(call.callId, by), { state: CallState.held, transfer, consultation, ...change })
  const transferred = { ...transfer, role: TransferRole.transferred }
  draft.report(draft.customerLeg(call, by), { remoteHeld: true, transfer: transferred, ...change })
}

function beginConsultation(
  draft: Draft,
  original: Call,
  callId: CallId,
  agentUri: string,
  target: Party,
  defaultCli: string | null,
): void {
  const device = draft.leg(original.callId, agentUri)?.device ?? null
  const caller: Party = { kind: 'agent', agentUri, device }
  const { correlationId, callId: forCallId } = original
  const cli = target.kind === 'outside' ? (original.cli ?? defaultCli) : null
  const call = newCall({ callId, phase: 'seized', caller, called: target, cli, correlationId, forCallId })
  const consultation = draft.putCall(call)
  draft.addLeg(consultation, caller, target, {
    state: CallState.initiated,
    direction: Direction.outbound,
    role: LegRole.originator,
    consultation: { forCallId },
  })
  draft.schedule({ kind: 'route', callId }, ROUTING_MS)
}

export function scheduleTransfer(
  draft: Draft,
  { callId, transfer }: Call,
  kind: 'transfer-route' | 'transfer-answer' | 'transfer-ring-out',
  dueInMs: number,
): void {
  const begunAt = transfer?.begunAt
  draft.schedule({ kind, callId, ...(begunAt !== undefined && { begunAt }) }, dueInMs)
}

/** Rings the target of a blind transfer, or returns the call to the agent. */
export function routeTransfer(draft: Draft, call: Call, device: DeviceState): void {
  const { transfer } = call
  if (transfer === null || transfer.consultation !== null || transfer.ringsIn !== null) return
  const failure = failureOf(transfer.target, device)
  if (failure === undefined) ringForCustomer(draft, call)
  else targetFailed(draft, call, failure)
}

/** The target rings for the customer, either newly or after it rang for a consultation. */
export function ringForCustomer(draft: Draft, call: Call): void {
  const { transfer } = call
  if (transfer === null) return
  const { target, by } = transfer
  const customer = otherParty(call, by)
  const ringsIn = draft.targetsCallId(call, target)
  const ringing: Call = { ...call, callId: ringsIn, caller: customer, called: target }
  if (ringsIn !== call.callId) draft.putCall({ ...ringing, phase: 'ringing', transfer: null })
  draft.putCall({ ...call, transfer: { ...transfer, ringsIn } })
  draft.addLeg(ringing, target, customer, {
    state: CallState.alerting,
    direction: Direction.inbound,
    role: roleOf(transfer),
    transfer: transferOfTarget(draft, call, transfer, { inCall: ringsIn, status: TransferStatus.ringing }),
  })
  reportTransfer(draft, { ...call, transfer }, TransferStatus.ringing)
  scheduleTransfer(draft, call, 'transfer-ring-out', RING_OUT_MS)
  const answer = answerOf(target)
  if (answer !== undefined) scheduleTransfer(draft, call, 'transfer-answer', answer.afterMs)
}

/**
 * The transfer as reported on the target's leg. In a call of its own it refers to the transferred call. An agent who is
 * called back sees that the own transfer has failed.
 */
function transferOfTarget(
  draft: Draft,
  { callId }: Call,
  { by, failedBecause }: PendingTransfer,
  { inCall, status }: { readonly inCall: CallId; readonly status: TransferStatus },
): Transfer | null {
  const agents = draft.lastTransferOf(callId, by)
  const otherCallId = inCall === callId ? (agents?.otherCallId ?? null) : callId
  const how =
    failedBecause === undefined
      ? { role: TransferRole.target, status, failReason: EndReason.none }
      : { role: TransferRole.transferring, status: TransferStatus.failed, failReason: failedBecause }
  return agents && { ...agents, ...how, otherCallId }
}

/**
 * The target is busy, rejects or does not answer. An agent who has left the call is called back, because the customer
 * has nobody else. If that fails too, the call ends.
 */
export function targetFailed(draft: Draft, call: Call, how: HowEnded, by: EndedByParty = 'switch'): void {
  const { transfer } = call
  if (transfer === null) return
  const reason = how.endReason
  if (transfer.ringsIn === null && transfer.consultation === null) missTransfer(draft, call, transfer, how, by)
  if (!transfer.isAbandoned) returnToAgent(draft, call, { status: TransferStatus.failed, failReason: reason })
  else if (transfer.failedBecause === undefined) callBack(draft, call, transfer, reason)
  else endCall(draft, call, { endReason: reason, cause: null, sipCode: null }, 'switch')
}

/** The target's phone did not ring. */
function missTransfer(draft: Draft, call: Call, pending: PendingTransfer, how: HowEnded, by: EndedByParty): void {
  const { target } = pending
  const inCall = draft.targetsCallId(call, target)
  const transfer = transferOfTarget(draft, call, pending, { inCall, status: TransferStatus.failed })
  const role = roleOf(pending)
  missCall(draft, { ...call, callId: inCall }, target, otherParty(call, pending.by), { how, by, role, transfer })
}

/** Of the agent who is called. One who is called back has not been transferred to. */
const roleOf = ({ failedBecause }: PendingTransfer): LegRole =>
  failedBecause === undefined ? LegRole.transferTarget : LegRole.destination

/** Calls the agent who has left a transfer. The agent's leg has ended, so the agent rings in a call with a new id. */
function callBack(draft: Draft, call: Call, pending: PendingTransfer, failedBecause: EndReason): void {
  const { caller, called } = call
  const target = isAgent(caller, pending.by) ? caller : called
  const transfer = { ...pending, target, ringsIn: null, failedBecause, begunAt: draft.step }
  scheduleTransfer(draft, draft.putCall({ ...call, transfer }), 'transfer-route', ROUTING_MS)
}

export function targetAnswered(draft: Draft, call: Call): void {
  const { transfer } = call
  if (transfer?.ringsIn == null) return
  endTransferred(draft, draft.leg(call.callId, transfer.by), transfer.by)
  connectTarget(draft, call, transfer, transfer.ringsIn)
}

export function endTransferred(draft: Draft, leg: LegReport | undefined, by: string): void {
  const transfer = leg?.transfer && { ...leg.transfer, status: TransferStatus.completed }
  draft.endLeg(leg, ENDINGS.transferred, { agentUri: by }, { transfer: transfer ?? null })
}

/**
 * Connects the customer to the target, whose leg is in `inCall`. A party who has put the other one on hold still does.
 * @param isTargetHolding the target was consulted, and has put the consultation on hold
 */
export function connectTarget(
  draft: Draft,
  call: Call,
  pending: PendingTransfer,
  inCall: CallId,
  isTargetHolding = false,
): void {
  const { by, target } = pending
  const customer = otherParty(call, by)
  const isCustomerHolding = draft.isHolding(call.callId, customer)
  const targetsTransfer = transferOfTarget(draft, call, pending, { inCall, status: TransferStatus.completed })
  const next: Call = {
    ...call,
    callId: inCall,
    phase: customer.kind === 'outside' && target.kind === 'outside' ? 'over' : 'talking',
    caller: customer,
    called: target,
    transfer: null,
  }
  if (inCall !== call.callId) draft.putCall({ ...call, phase: 'over', transfer: null })
  draft.putCall(next)
  const customerLeg = draft.customerLeg(call, by)
  const transferred = customerLeg?.transfer ? { ...customerLeg.transfer, status: TransferStatus.completed } : null
  if (inCall === call.callId) {
    const remote = { internal: target.kind === 'agent', remoteParty: remotePartyOf(target) }
    draft.report(customerLeg, { ...remote, remoteHeld: isTargetHolding, transfer: transferred })
  } else if (customerLeg !== undefined) {
    // The target cannot have a second leg of this call, so a customer who is an agent moves to the target's call.
    draft.endLeg(customerLeg, ENDINGS.transferred, { agentUri: by }, { transfer: transferred })
    const { direction, role } = customerLeg
    const transfer = transferred && { ...transferred, otherCallId: call.callId }
    const talk = { state: isCustomerHolding ? CallState.held : CallState.connected, remoteHeld: isTargetHolding }
    draft.addLeg(next, customer, target, { ...talk, direction, role, transfer })
  }
  if (target.kind === 'outside') return scheduleBehaviour(draft, next, target)
  const ringing = draft.leg(inCall, target.agentUri)
  const talk = {
    state: isTargetHolding ? CallState.held : CallState.connected,
    remoteHeld: isCustomerHolding,
    transfer: targetsTransfer,
  }
  if (ringing !== undefined) return draft.report(ringing, talk)
  draft.addLeg(next, target, customer, { ...talk, direction: Direction.inbound, role: LegRole.transferTarget })
}

/** Ends the leg of a target that rings for the customer. The call itself continues. */
export function stopRinging(
  draft: Draft,
  call: Call,
  how: 'cancelled' | 'rejected' | 'noAnswer' | 'deviceUnavailable',
): void {
  const { transfer, callId } = call
  if (transfer?.ringsIn == null || transfer.target.kind === 'outside') return
  const { agentUri } = transfer.target
  const by = how === 'cancelled' ? { agentUri: transfer.by } : how === 'rejected' ? { agentUri } : 'switch'
  if (transfer.ringsIn === callId) return draft.endLeg(draft.leg(callId, agentUri), ENDINGS[how], by)
  const ringing = draft.call(transfer.ringsIn)
  if (ringing !== undefined) endCall(draft, ringing, ENDINGS[how], by)
}

/** Cancels a pending transfer: the customer returns to the agent, and the target's call ends. */
export function cancelTransfer(draft: Draft, call: Call, how: Pick<Return, 'isResumed'> = {}): void {
  const { transfer } = call
  if (transfer === null) return
  stopRinging(draft, call, 'cancelled')
  returnToAgent(draft, call, { status: TransferStatus.cancelled, failReason: EndReason.none, ...how })
  const consultation = draft.call(transfer.consultation)
  if (consultation !== undefined) endCall(draft, consultation, ENDINGS.cancelled, { agentUri: transfer.by })
}
