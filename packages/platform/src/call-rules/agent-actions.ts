import { type CallId, CallState, type CommandId, EndReason } from '@switchhook/contracts'
import { hasResult } from '../call-model/check-command.ts'
import type { LegReport } from '../platform.ts'
import { type AgentStep, type Call, isSameParty, otherParty } from './call-group.ts'
import { connect, reportHold } from './calls.ts'
import type { Draft } from './draft.ts'
import { completeTransfer, hangup } from './leave-call.ts'
import { beginTransfer, cancelTransfer, targetAnswered } from './transfers.ts'

/**
 * An agent acts on a leg. A command that does not fit the leg's state is reported as failed; one whose result is already
 * there, because another action came first, as done.
 */
export function applyAgentStep(draft: Draft, step: AgentStep): void {
  const call = draft.call(step.callId)
  const leg = draft.leg(step.callId, step.agentUri)
  if (call === undefined || leg === undefined) return applyToConsultation(draft, step)
  const { kind, commandId } = step
  if (hasResult(leg.state, kind) || isTransferRepeat(call, step)) return reportDone(draft, leg, step)
  const isCarriedOut = step.isInVain !== true && carryOut(draft, step, call, leg)
  if (!isCarriedOut && commandId !== null) draft.report(leg, { failedCommand: failedCommand(kind, commandId) })
}

/**
 * The command has crossed the end of the leg: the customer of a transfer hung up, and the consultation goes on. The agent
 * who hangs up wants to be free, so the consultation ends. Another command is reported there, because no report may follow the
 * end of a leg.
 */
function applyToConsultation(draft: Draft, step: AgentStep): void {
  const { agentUri, kind, commandId } = step
  const consultation = draft.call(draft.lastTransferOf(step.callId, agentUri)?.otherCallId ?? null)
  const leg = consultation && draft.leg(consultation.callId, agentUri)
  if (consultation === undefined || leg === undefined) return
  if (kind === 'hangup') hangup(draft, consultation, agentUri)
  else if (commandId !== null) draft.report(leg, { failedCommand: failedCommand(kind, commandId) })
}

/** The agent's transfer to this target already goes on without a consultation. */
function isTransferRepeat({ transfer }: Call, step: AgentStep): boolean {
  if (transfer?.by !== step.agentUri || transfer.consultation !== null) return false
  if (step.kind !== 'transfer') return step.kind === 'completeTransfer'
  return step.consultationCallId === null && isSameParty(step.target, transfer.target)
}

export function reportDone(draft: Draft, leg: LegReport, { kind, commandId }: AgentStep): void {
  if (commandId !== null) draft.report(leg, { doneCommand: commandOf(kind, commandId) })
}

/** In a report: the platform could not carry out the command. */
export const failedCommand = (kind: AgentStep['kind'], commandId: CommandId) => ({
  ...commandOf(kind, commandId),
  reason: EndReason.failed,
})

const commandOf = (kind: AgentStep['kind'], commandId: CommandId) => ({
  commandId,
  command: kind === 'completeTransfer' ? ('transfer' as const) : kind,
})

/** False: the step does not fit. */
function carryOut(draft: Draft, step: AgentStep, call: Call, leg: LegReport): boolean {
  const { state, agentUri } = leg
  const { transfer } = call
  const isTalk = state === CallState.connected || state === CallState.held
  switch (step.kind) {
    case 'hangup':
      hangup(draft, call, agentUri)
      return true
    case 'answer':
      if (state !== CallState.alerting) return false
      answer(draft, call)
      return true
    case 'hold':
      if (state !== CallState.connected) return false
      reportHold(draft, call, leg, true)
      return true
    case 'resume':
      if (transfer?.by === agentUri) cancelTransfer(draft, call, { isResumed: true })
      else if (state === CallState.held) reportHold(draft, call, leg, false)
      return isTalk
    case 'transfer':
      if (!isTalk || transfer !== null || call.phase !== 'talking') return false
      if (isSameParty(step.target, otherParty(call, agentUri))) return false
      // Its end would still return the original call to the agent, who has left it.
      if (draft.originalOf(call)?.transfer?.by === agentUri) return false
      beginTransfer(draft, call, step)
      return true
    case 'completeTransfer':
      if (transfer?.by !== agentUri || transfer.consultation === null) return false
      for (const callId of [call.callId, transfer.consultation]) rename(draft, callId, step.correlationId)
      completeTransfer(draft, draft.call(call.callId) ?? call)
      return true
  }
}

function rename(draft: Draft, callId: CallId, correlationId: string | null | undefined): void {
  if (correlationId == null) return
  const call = draft.call(callId)
  if (call !== undefined) draft.putCall({ ...call, correlationId })
  for (const leg of draft.legsOf(callId)) draft.report(leg, { correlationId })
}

function answer(draft: Draft, call: Call): void {
  const transferred = draft.transferRingingIn(call.callId)
  if (transferred === undefined) connect(draft, call)
  else targetAnswered(draft, transferred)
}
