import { CallState } from '@switchhook/contracts'
import type { AgentStep, Party, SimulatedCall } from './call-group.ts'
import { isSameParty, otherParty } from './call-group.ts'
import { connect, failedCommand, reportHold } from './calls.ts'
import { behaviourOf } from './destinations.ts'
import type { Draft } from './draft.ts'
import { completeTransfer, hangup } from './leave-call.ts'
import { beginTransfer, cancelTransfer, targetAnswered } from './transfers.ts'

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
  const other = otherParty(call, agentUri)
  const canTransfer = isTalk && call.transfer === null && call.phase === 'talking'
  if (step.kind === 'transfer' && canTransfer && !isSameParty(step.target, other)) {
    return beginTransfer(draft, call, step)
  }
  if (step.kind === 'completeTransfer' && call.transfer?.by === agentUri && call.transfer.consultation !== null) {
    return completeTransfer(draft, call)
  }
  if (step.kind === 'resume' && call.transfer?.by === agentUri) {
    return cancelTransfer(draft, call, { isResumed: true })
  }
  const isHold = step.kind === 'hold'
  if ((isHold && state === CallState.held) || (step.kind === 'resume' && state === CallState.connected)) return
  if ((isHold || step.kind === 'resume') && isTalk && !(isHold && refusesHold(other))) {
    return reportHold(draft, call, leg, isHold)
  }
  if (step.commandId !== null) draft.report(leg, { failedCommand: failedCommand(commandOf(step), step.commandId) })
}

const commandOf = ({ kind }: AgentStep) =>
  kind === 'fail-answer' ? 'answer' : kind === 'fail-resume' ? 'resume' : kind

const refusesHold = (party: Party): boolean => {
  const behaviour = party.kind === 'outside' ? behaviourOf(party.address) : undefined
  return behaviour?.kind === 'answers' && behaviour.refusesHold === true
}

function answer(draft: Draft, call: SimulatedCall): void {
  const transferred = draft.transferRingingIn(call.callId)
  if (transferred === undefined) connect(draft, call)
  else targetAnswered(draft, transferred)
}
