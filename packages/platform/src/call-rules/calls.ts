import { CallState, Direction, EndReason, LegRole, type Transfer, TransferStatus } from '@switchhook/contracts'
import type { LegReport } from '../platform.ts'
import type { Call, DeviceState, HowEnded, Party, RemoteAction } from './call-group.ts'
import { ENDINGS, otherParty } from './call-group.ts'
import { answerOf, failureOf, MAX_TALK_MS, RING_OUT_MS } from './destinations.ts'
import { type Draft, type EndedByParty, endedByOf } from './draft.ts'

export function route(draft: Draft, call: Call, device: DeviceState): void {
  if (call.phase !== 'seized') return
  const { called, callId } = call
  const failure = failureOf(called, device)
  if (failure !== undefined) return refuse(draft, call, failure)
  ring(draft, call)
  const answer = answerOf(called)
  if (answer === undefined) draft.schedule({ kind: 'ring-out', callId }, RING_OUT_MS)
  else draft.schedule({ kind: 'remote', callId, action: 'answer' }, answer.afterMs)
}

/** The called party does not ring. An agent has missed the call, which is reported as a leg that has ended. */
export function refuse(draft: Draft, call: Call, how: HowEnded, by: EndedByParty = 'outside'): void {
  const { called, caller, forCallId } = call
  missCall(draft, call, called, caller, {
    how,
    by,
    role: forCallId === null ? LegRole.destination : LegRole.consultant,
  })
  endCall(draft, call, how, by)
}

/** Reports the leg of an agent who has none in the call, because the agent's phone did not ring. */
export function missCall(
  draft: Draft,
  call: Call,
  party: Party,
  other: Party,
  {
    how,
    by,
    role,
    transfer = null,
  }: Pick<LegReport, 'role'> & {
    readonly how: HowEnded
    readonly by: EndedByParty
    readonly transfer?: Transfer | null
  },
): void {
  if (party.kind !== 'agent' || draft.leg(call.callId, party.agentUri) !== undefined) return
  const ending = { ...how, endedBy: endedByOf(by === 'outside' ? 'switch' : by, party.agentUri) }
  draft.addLeg(call, party, other, { state: CallState.ended, direction: Direction.inbound, role, transfer, ending })
}

export function ring(draft: Draft, call: Call): void {
  const { caller, called, callId, forCallId } = call
  draft.putCall({ ...call, phase: 'ringing' })
  if (caller.kind === 'agent') draft.report(draft.leg(callId, caller.agentUri), { state: CallState.proceeding })
  const original = draft.originalOf(call)
  if (original !== undefined) reportTransfer(draft, original, TransferStatus.ringing)
  draft.addLeg(call, called, caller, {
    state: CallState.alerting,
    direction: Direction.inbound,
    role: forCallId === null ? LegRole.destination : LegRole.consultant,
    consultation: forCallId === null ? null : { forCallId },
  })
}

/** An outside caller gives up; a call by an agent ends with noAnswer. */
export function ringOut(draft: Draft, call: Call): void {
  if (call.phase !== 'ringing') return
  if (call.caller.kind === 'outside') endCall(draft, call, ENDINGS.cancelled, 'outside')
  else endCall(draft, call, ENDINGS.noAnswer, 'switch')
}

/** An action of the call's outside party. An action that does not fit the call's phase has no effect. */
export function remote(draft: Draft, call: Call, action: RemoteAction): void {
  const isCaller = call.caller.kind === 'outside'
  if (!isCaller && call.called.kind === 'agent') return
  if (action === 'answer') {
    if (call.phase === 'ringing' && !isCaller) connect(draft, call)
  } else if (action === 'hangup') {
    const unanswered = isCaller ? ENDINGS.cancelled : ENDINGS.rejected
    endCall(draft, call, call.phase === 'talking' ? ENDINGS.normal : unanswered, 'outside')
  } else if (call.phase === 'talking') {
    outsideHolds(draft, call, isCaller ? call.caller : call.called, action === 'hold')
  }
}

export function outsideHolds(draft: Draft, call: Call, party: Party, remoteHeld: boolean): void {
  if (party.kind !== 'outside' || (party.holds === true) === remoteHeld) return
  const { holds: _before, ...rest } = party
  const now: Party = remoteHeld ? { ...rest, holds: true } : rest
  draft.putCall({ ...call, ...(party === call.caller ? { caller: now } : { called: now }) })
  for (const leg of draft.legsOf(call.callId)) {
    // The target of a transfer does not talk yet.
    if (leg.state !== CallState.alerting && leg.remoteHeld !== remoteHeld) draft.report(leg, { remoteHeld })
  }
}

export function connect(draft: Draft, call: Call): void {
  draft.putCall({ ...call, phase: 'talking' })
  for (const leg of draft.legsOf(call.callId)) draft.report(leg, { state: CallState.connected })
  scheduleBehaviour(draft, call, call.called)
  if (call.caller.kind === 'outside') {
    draft.schedule({ kind: 'remote', callId: call.callId, action: 'hangup' }, call.talkMs ?? MAX_TALK_MS)
  }
}

/** Schedules what an outside party does after its answer: it holds and resumes, and hangs up. */
export function scheduleBehaviour(draft: Draft, { callId }: Call, party: Party): void {
  const answer = answerOf(party)
  if (answer === undefined) return
  draft.schedule({ kind: 'remote', callId, action: 'hangup' }, answer.talkMs)
  if (answer.holds === undefined) return
  const { afterMs, forMs } = answer.holds
  draft.schedule({ kind: 'remote', callId, action: 'hold' }, afterMs)
  draft.schedule({ kind: 'remote', callId, action: 'resume' }, afterMs + forMs)
}

/** The agent of `leg` puts the other party on hold, or resumes the call. */
export function reportHold(draft: Draft, call: Call, leg: LegReport, isHeld: boolean): void {
  draft.report(leg, { state: isHeld ? CallState.held : CallState.connected })
  const other = otherParty(call, leg.agentUri)
  if (other.kind === 'agent') draft.report(draft.leg(call.callId, other.agentUri), { remoteHeld: isHeld })
}

/**
 * Ends a call with all its legs. A pending transfer of the call is cancelled, and the target stops ringing; its
 * consultation continues as an ordinary call. The end of a consultation returns the original call to its agent.
 */
export function endCall(draft: Draft, call: Call, how: HowEnded, by: EndedByParty): void {
  const { callId, transfer } = call
  const original = draft.originalOf(call)
  const wasAnswered = call.phase === 'talking'
  draft.putCall({ ...call, phase: 'over', transfer: null })
  const cancelled = transfer === null ? {} : { status: TransferStatus.cancelled }
  for (const leg of draft.legsOf(callId)) {
    draft.endLeg(leg, howLegEnds(leg, how), by, { transfer: leg.transfer && { ...leg.transfer, ...cancelled } })
  }
  // Undefined also if the target rings in this call, which is over by now.
  const ringing = draft.call(transfer?.ringsIn ?? null)
  if (ringing !== undefined) endCall(draft, ringing, how, by)
  const consultation = draft.call(transfer?.consultation ?? null)
  if (consultation !== undefined) makeOrdinary(draft, consultation)
  if (original === undefined) return
  const status = wasAnswered ? TransferStatus.cancelled : TransferStatus.failed
  returnToAgent(draft, original, { status, failReason: wasAnswered ? EndReason.none : how.endReason })
}

function makeOrdinary(draft: Draft, consultation: Call): void {
  draft.putCall({ ...consultation, forCallId: null })
  for (const leg of draft.legsOf(consultation.callId)) draft.report(leg, { consultation: null })
}

/** A leg that was never answered does not end with reason normal. */
const howLegEnds = (leg: LegReport, how: HowEnded): HowEnded =>
  leg.state === CallState.alerting && how.endReason === EndReason.normal ? ENDINGS.cancelled : how

/** Reports the status of a pending transfer on the legs of its agent and of a customer who is an agent. */
export function reportTransfer(draft: Draft, call: Call, status: TransferStatus): void {
  const by = call.transfer?.by
  if (by === undefined) return
  for (const leg of [draft.leg(call.callId, by), draft.customerLeg(call, by)]) {
    if (leg?.transfer != null) draft.report(leg, { transfer: { ...leg.transfer, status } })
  }
}

/** How a transfer ended without a new party for the customer. */
export interface Return {
  readonly status: TransferStatus
  readonly failReason: EndReason
  /** The agent asked for the call, and other calls have been held first. */
  readonly isResumed?: true
}

/**
 * A transfer has failed or is cancelled: connects the customer to the agent again. If the agent talks or dials in another
 * call meanwhile, the customer stays on hold, because no agent is connected to two calls.
 */
export function returnToAgent(draft: Draft, call: Call, { status, failReason, isResumed }: Return): void {
  const by = call.transfer?.by
  if (by === undefined) return
  const isHeld = isResumed !== true && draft.isTransferrerBusy(call)
  const agentLeg = draft.leg(call.callId, by)
  const customerLeg = draft.customerLeg(call, by)
  draft.putCall({ ...call, transfer: null })
  const ended = (leg: LegReport) => leg.transfer && { ...leg.transfer, status, failReason }
  if (agentLeg !== undefined) {
    const state = isHeld ? CallState.held : CallState.connected
    draft.report(agentLeg, { state, transfer: ended(agentLeg), consultation: null })
  }
  if (customerLeg !== undefined) draft.report(customerLeg, { remoteHeld: isHeld, transfer: ended(customerLeg) })
}
