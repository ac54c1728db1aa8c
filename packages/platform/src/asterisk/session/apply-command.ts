import { CallState } from '@switchhook/contracts'
import type { LegReport } from '../../platform.ts'
import {
  beginTransfer,
  cancelTransfer,
  completeTransfer,
  ENDINGS,
  endCall,
  failedCommand,
  hangup,
  isSameParty,
  otherParty,
  reportHold,
  type SimulatedCall,
  targetFailed,
} from './call-flow.ts'
import type { CommandInput } from './input.ts'
import { answerOnLine } from './open-line.ts'
import { drop } from './plan-channels.ts'
import type { SessionDraft } from './session-draft.ts'

/** The time in which a phone must answer after a request to answer. */
const ANSWER_WITHIN_MS = 3_000

interface Subject {
  readonly call: SimulatedCall
  readonly leg: LegReport
}

/**
 * Applies an agent's action on a leg, by command or at the phone. A command that does not fit the leg's state is reported
 * as failed. A command whose result the leg already has changes nothing.
 */
export function applyCommand(draft: SessionDraft, input: CommandInput): void {
  const call = draft.calls.call(input.callId)
  const leg = draft.calls.leg(input.callId, input.agentUri)
  if (call === undefined || leg === undefined) return
  if (!isCarriedOut(draft, input, { call, leg }) && input.commandId !== null) {
    draft.calls.report(leg, { failedCommand: failedCommand(input.kind, input.commandId) })
  }
}

function isCarriedOut(draft: SessionDraft, input: CommandInput, subject: Subject): boolean {
  switch (input.kind) {
    case 'hangup':
      hangup(draft.calls, subject.call, input.agentUri)
      return true
    case 'answer':
      return answer(draft, input, subject)
    case 'hold':
      return hold(draft, subject)
    case 'resume':
      return resume(draft, input, subject)
    case 'transfer':
      return transfer(draft, input, subject)
    case 'completeTransfer':
      if (subject.call.transfer?.by !== input.agentUri || subject.call.transfer.consultation === null) return false
      completeTransfer(draft.calls, subject.call)
      return true
  }
}

type Talk = Extract<CommandInput, { kind: 'answer' | 'resume' }>

function answer(draft: SessionDraft, { callId, agentUri, commandId, how, isInVain }: Talk, { leg }: Subject): boolean {
  if (leg.state === CallState.connected) return true
  const channel = draft.channelOf(agentUri)
  if (leg.state !== CallState.alerting || isInVain || how === null || commandId === null || channel === undefined)
    return false
  if (channel.origin === 'lent') {
    answerOnLine(draft, channel)
    return true
  }
  // The line is closed, and the phone rings.
  if (how === 'connected') return false
  draft.accepted = commandId
  if (draft.pendingAnswers.some((pending) => pending.agentUri === agentUri)) return true
  draft.pendingAnswers = [...draft.pendingAnswers, { callId, agentUri, commandId, how }]
  if (how === 'talk') draft.actions.push({ kind: 'talk', channelId: channel.id })
  else drop(draft, channel, true)
  draft.later.push({ input: { kind: 'answer-overdue', commandId }, dueInMs: ANSWER_WITHIN_MS })
  return true
}

function hold(draft: SessionDraft, { call, leg }: Subject): boolean {
  if (leg.state === CallState.held) return true
  if (leg.state !== CallState.connected) return false
  reportHold(draft.calls, call, leg, true)
  return true
}

function resume(draft: SessionDraft, { agentUri, commandId, how, isInVain }: Talk, subject: Subject): boolean {
  const { call, leg } = subject
  if (isInVain) return false
  if (call.transfer?.by === agentUri) {
    cancelTransfer(draft.calls, call, { isResumed: true })
    return true
  }
  if (leg.state === CallState.connected) return true
  if (leg.state !== CallState.held) return false
  const channel = draft.channelOf(agentUri)
  if (channel?.isHeldAtPhone !== true) {
    reportHold(draft.calls, call, leg, false)
    return true
  }
  // The phone itself holds the call, so the phone has to resume it.
  if (how !== 'talk') return false
  draft.accepted = commandId
  draft.actions.push({ kind: 'talk', channelId: channel.id })
  return true
}

function transfer(
  draft: SessionDraft,
  input: Extract<CommandInput, { kind: 'transfer' }>,
  { call, leg }: Subject,
): boolean {
  const isTalk = leg.state === CallState.connected || leg.state === CallState.held
  const { refusal: refused, ...target } = input.target
  // The phone has one channel per session, and it is in another call.
  const isInGroup = target.kind === 'agent' && draft.calls.callsOf(target.agentUri).length > 0
  const refusal = isInGroup ? 'busy' : refused
  if (!isTalk || call.transfer !== null || call.phase !== 'talking') return false
  if (isSameParty(target, otherParty(call, leg.agentUri))) return false
  const outside = target.kind === 'outside' ? { ...target, line: draft.newName() } : target
  beginTransfer(draft.calls, call, { ...input, target: outside })
  if (refusal === null) return true
  const consultation = draft.calls.call(input.consultationCallId)
  const begun = draft.calls.call(call.callId)
  if (consultation !== undefined) endCall(draft.calls, consultation, ENDINGS[refusal], 'outside')
  else if (begun !== undefined) targetFailed(draft.calls, begun, ENDINGS[refusal].endReason)
  return true
}
