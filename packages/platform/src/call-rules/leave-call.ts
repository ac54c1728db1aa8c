import type { CallId } from '@switchhook/contracts'
import type { LegReport } from '../platform.ts'
import {
  type Call,
  ENDINGS,
  type HowEnded,
  isAgent,
  isSameParty,
  otherParty,
  type PendingTransfer,
} from './call-group.ts'
import { endCall } from './calls.ts'
import { ROUTING_MS } from './destinations.ts'
import type { Draft } from './draft.ts'
import {
  cancelTransfer,
  connectTarget,
  endTransferred,
  ringForCustomer,
  scheduleTransfer,
  stopRinging,
  targetFailed,
} from './transfers.ts'

/** An agent hangs up. The effect depends on the agent's role in a pending transfer. */
export function hangup(draft: Draft, call: Call, agentUri: string): void {
  const transferred = transferRinging(draft, call.callId, agentUri)
  if (transferred !== undefined) {
    stopRinging(draft, transferred, 'rejected')
    return targetFailed(draft, transferred, ENDINGS.rejected, { agentUri })
  }
  const original = draft.originalOf(call)
  if (original?.transfer?.by === agentUri) {
    if (call.phase === 'seized') cancelTransfer(draft, original)
    else completeTransfer(draft, original)
    return
  }
  if (call.transfer?.by === agentUri) return leaveTransfer(draft, call, 'completed')
  const unanswered = isAgent(call.caller, agentUri) ? 'cancelled' : 'rejected'
  endCall(draft, call, ENDINGS[call.phase === 'talking' ? 'normal' : unanswered], { agentUri })
}

/** The call whose transfer rings this agent in this call. */
function transferRinging(draft: Draft, callId: CallId, agentUri: string): Call | undefined {
  const call = draft.transferRingingIn(callId)
  return call?.transfer != null && isAgent(call.transfer.target, agentUri) ? call : undefined
}

/** Why the agent leaves a transfer before it has ended: the agent completes it, or the device is lost. */
type Leaving = 'completed' | HowEnded

function leaveTransfer(draft: Draft, call: Call, leaving: Leaving): void {
  const { transfer } = call
  if (transfer === null) return
  if (transfer.consultation !== null) return completeTransfer(draft, call, leaving)
  const leg = draft.leg(call.callId, transfer.by)
  if (leaving === 'completed') draft.endLeg(leg, ENDINGS.transferred, { agentUri: transfer.by })
  else draft.endLeg(leg, leaving, 'switch')
  draft.putCall({ ...call, transfer: { ...transfer, isAbandoned: true } })
}

function leaveLeg(draft: Draft, leg: LegReport | undefined, by: string, leaving: Leaving): void {
  if (leaving === 'completed') endTransferred(draft, leg, by)
  else draft.endLeg(leg, leaving, 'switch')
}

/**
 * Completes an attended transfer. If the target has answered, it is connected to the customer. Otherwise it rings for
 * the customer, and the agent's leg stays on hold until the target answers, so that the customer can return.
 */
export function completeTransfer(draft: Draft, call: Call, leaving: Leaving = 'completed'): void {
  const { transfer } = call
  const consultation = draft.call(transfer?.consultation ?? null)
  if (transfer === null || consultation === undefined) return
  const { by } = transfer
  const consulted = whoIsConsulted(draft, consultation, by)
  if (isSameParty(consulted.party, otherParty(call, by))) return cancelTransfer(draft, call)
  draft.putCall({ ...consultation, phase: 'over', transfer: null })
  leaveLeg(draft, draft.leg(consultation.callId, by), by, leaving)
  for (const leg of draft.legsOf(consultation.callId)) endTransferred(draft, leg, by)

  const original = draft.leg(call.callId, by)
  const now: PendingTransfer = { ...transfer, target: consulted.party }
  if (consulted.isTalking) {
    leaveLeg(draft, original, by, leaving)
    return connectTarget(draft, call, now, draft.targetsCallId(call, now.target), consulted.isHolding)
  }
  if (leaving === 'completed') draft.report(original, { consultation: null })
  else draft.endLeg(original, leaving, 'switch')
  const pending: PendingTransfer = { ...now, consultation: null, isAbandoned: leaving !== 'completed' }
  const blind = draft.putCall({ ...call, transfer: pending })
  if (consultation.phase === 'ringing') ringForCustomer(draft, blind)
  else scheduleTransfer(draft, blind, 'transfer-route', ROUTING_MS)
}

/**
 * The other party of a consultation, which is not the target of its transfer if the target has transferred the
 * consultation. A transfer that is still pending ends: its agent comes back, unless that agent has left.
 */
function whoIsConsulted(draft: Draft, consultation: Call, by: string) {
  const { transfer, phase } = consultation
  if (transfer?.isAbandoned === true) {
    stopRinging(draft, consultation, 'cancelled')
    return { party: transfer.target, isTalking: false, isHolding: false }
  }
  cancelTransfer(draft, consultation)
  const party = otherParty(consultation, by)
  return { party, isTalking: phase === 'talking', isHolding: draft.isHolding(consultation.callId, party) }
}

/** The agent's device is lost: the agent's transfers continue without the agent, and all other calls end. */
export function deviceOffline(draft: Draft, agentUri: string, how: HowEnded = ENDINGS.deviceUnavailable): void {
  for (const { callId } of draft.callsOf(agentUri)) {
    const call = draft.call(callId)
    if (call?.transfer?.by === agentUri) leaveTransfer(draft, call, how)
  }
  for (const { callId } of draft.callsOf(agentUri)) {
    const call = draft.call(callId)
    const transferred = transferRinging(draft, callId, agentUri)
    if (transferred !== undefined) {
      stopRinging(draft, transferred, 'deviceUnavailable')
      targetFailed(draft, transferred, how)
    } else if (call !== undefined) {
      endCall(draft, call, how, 'switch')
    }
  }
}
