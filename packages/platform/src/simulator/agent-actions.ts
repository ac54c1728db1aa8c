import { type CallCommand, type CallId, CallState, type CommandId, EndReason } from '@switchhook/contracts'
import type { AgentStep, Party, PendingTransfer, SimulatedCall } from './call-group.ts'
import { isAgent, otherParty } from './call-group.ts'
import { connect, endCall } from './calls.ts'
import { behaviourOf, ROUTING_MS } from './destinations.ts'
import type { Draft } from './draft.ts'
import { ENDINGS } from './end-reasons.ts'
import {
  beginTransfer,
  cancelTransfer,
  connectTarget,
  endTransferred,
  ringForCustomer,
  stopRinging,
  targetAnswered,
  targetFailed,
} from './transfers.ts'

/** An agent acts on a leg. A command that does not fit the leg's state is reported as failed. */
export function applyAgentStep(draft: Draft, step: AgentStep): void {
  const { callId, agentUri } = step
  const call = draft.call(callId)
  const leg = draft.leg(callId, agentUri)
  if (call === undefined || leg === undefined) return
  const { state } = leg
  const isTalk = state === CallState.connected || state === CallState.held
  if (step.kind === 'hangup') return hangup(draft, call, agentUri)
  if (step.kind === 'answer' && state === CallState.alerting) return answer(draft, call)
  if (step.kind === 'transfer' && isTalk && call.transfer === null && call.phase === 'talking') {
    return beginTransfer(draft, call, step)
  }
  if (step.kind === 'completeTransfer' && call.transfer?.by === agentUri && call.transfer.consultation !== null) {
    return completeTransfer(draft, call, 'completed')
  }
  if (step.kind === 'resume' && call.transfer?.by === agentUri) return cancelTransfer(draft, call)
  const isHold = step.kind === 'hold'
  if ((isHold && state === CallState.held) || (step.kind === 'resume' && state === CallState.connected)) return
  const other = otherParty(call, agentUri)
  if ((isHold || step.kind === 'resume') && isTalk && !(isHold && refusesHold(other))) {
    draft.report(leg, { state: isHold ? CallState.held : CallState.connected })
    if (other.kind === 'agent') draft.report(draft.leg(callId, other.agentUri), { remoteHeld: isHold })
    return
  }
  if (step.commandId !== null) draft.report(leg, { failedCommand: failed(step.kind, step.commandId) })
}

const refusesHold = (party: Party): boolean => {
  const behaviour = party.kind === 'outside' ? behaviourOf(party.address) : undefined
  return behaviour?.kind === 'answers' && behaviour.refusesHold === true
}

const COMMANDS: Readonly<Record<AgentStep['kind'], CallCommand>> = {
  answer: 'answer',
  hangup: 'hangup',
  hold: 'hold',
  resume: 'resume',
  transfer: 'transfer',
  completeTransfer: 'transfer',
  'fail-answer': 'answer',
  'fail-resume': 'resume',
}

const failed = (kind: AgentStep['kind'], commandId: CommandId) => ({
  commandId,
  command: COMMANDS[kind],
  reason: EndReason.failed,
})

function answer(draft: Draft, call: SimulatedCall): void {
  const transferred = draft.transferRingingIn(call.callId)
  if (transferred === undefined) connect(draft, call)
  else targetAnswered(draft, transferred)
}

/** The effect depends on the agent's role in a pending transfer. */
function hangup(draft: Draft, call: SimulatedCall, agentUri: string): void {
  const transferred = transferRinging(draft, call.callId, agentUri)
  if (transferred !== undefined) {
    stopRinging(draft, transferred, 'rejected')
    return targetFailed(draft, transferred, EndReason.rejected)
  }
  const original = draft.originalOf(call)
  if (original?.transfer?.by === agentUri) {
    if (call.phase === 'seized') cancelTransfer(draft, original)
    else completeTransfer(draft, original, 'completed')
    return
  }
  if (call.transfer?.by === agentUri) return leaveTransfer(draft, call, 'completed')
  const unanswered = isAgent(call.caller, agentUri) ? 'cancelled' : 'rejected'
  endCall(draft, call, ENDINGS[call.phase === 'talking' ? 'normal' : unanswered], { agentUri })
}

/** The call whose transfer rings this agent in this call. */
function transferRinging(draft: Draft, callId: CallId, agentUri: string): SimulatedCall | undefined {
  const call = draft.transferRingingIn(callId)
  return call?.transfer != null && isAgent(call.transfer.target, agentUri) ? call : undefined
}

/** Why the agent leaves a transfer before it has ended. */
type Leaving = 'completed' | 'device offline'

/** The agent leaves the transfer; the customer stays. */
function leaveTransfer(draft: Draft, call: SimulatedCall, leaving: Leaving): void {
  const { transfer } = call
  if (transfer === null) return
  if (transfer.consultation !== null) return completeTransfer(draft, call, leaving)
  const leg = draft.leg(call.callId, transfer.by)
  if (leaving === 'completed') draft.endLeg(leg, ENDINGS.transferred, { agentUri: transfer.by })
  else draft.endLeg(leg, ENDINGS.deviceUnavailable, 'switch')
  draft.putCall({ ...call, transfer: { ...transfer, isAbandoned: true } })
}

/**
 * Completes an attended transfer. If the target has answered, it is connected to the customer. Otherwise it rings for
 * the customer from now on, and the agent's leg stays on hold until the target answers, so that the customer can
 * return.
 */
function completeTransfer(draft: Draft, call: SimulatedCall, leaving: Leaving): void {
  const { transfer } = call
  const consultation = draft.call(transfer?.consultation ?? null)
  if (transfer === null || consultation === undefined) return
  const { by } = transfer
  draft.putCall({ ...consultation, phase: 'over' })
  const consulting = draft.leg(consultation.callId, by)
  if (leaving === 'completed') endTransferred(draft, consulting, by)
  else draft.endLeg(consulting, ENDINGS.deviceUnavailable, 'switch')
  for (const leg of draft.legsOf(consultation.callId)) endTransferred(draft, leg, by)

  const original = draft.leg(call.callId, by)
  if (consultation.phase === 'talking') {
    if (leaving === 'completed') endTransferred(draft, original, by)
    else draft.endLeg(original, ENDINGS.deviceUnavailable, 'switch')
    return connectTarget(draft, call, transfer, draft.targetsCallId(call, transfer))
  }
  if (leaving === 'completed') draft.report(original, { consultation: null })
  else draft.endLeg(original, ENDINGS.deviceUnavailable, 'switch')
  const pending: PendingTransfer = { ...transfer, consultation: null, isAbandoned: leaving === 'device offline' }
  const blind = draft.putCall({ ...call, transfer: pending })
  if (consultation.phase === 'ringing') ringForCustomer(draft, blind)
  else draft.schedule({ kind: 'transfer-route', callId: call.callId }, ROUTING_MS)
}

/** The agent's device goes offline: the agent's transfers continue without the agent, and all other calls end. */
export function deviceOffline(draft: Draft, agentUri: string): void {
  for (const { callId } of draft.callsOf(agentUri)) {
    const call = draft.call(callId)
    if (call?.transfer?.by === agentUri) leaveTransfer(draft, call, 'device offline')
  }
  for (const { callId } of draft.callsOf(agentUri)) {
    const call = draft.call(callId)
    const transferred = transferRinging(draft, callId, agentUri)
    if (transferred !== undefined) {
      stopRinging(draft, transferred, 'noAnswer')
      targetFailed(draft, transferred, EndReason.deviceUnavailable)
    } else if (call !== undefined) {
      endCall(draft, call, ENDINGS.deviceUnavailable, 'switch')
    }
  }
}
