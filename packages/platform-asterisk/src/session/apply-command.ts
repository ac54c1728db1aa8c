import { CallState, type CommandId, uuidV5 } from '@switchhook/contracts'
import {
  applyAgentStep,
  type Call,
  ENDINGS,
  failedCommand,
  refuse,
  reportDone,
  targetFailed,
} from '@switchhook/platform'
import type { CommandInput } from './input.ts'
import { answerOnLine } from './open-line.ts'
import { keepHoldsAtPhones } from './phone-hold.ts'
import { drop } from './plan-channels.ts'
import type { Channel } from './session.ts'
import type { SessionDraft } from './session-draft.ts'

/** The time in which a phone must answer or resume after a request. */
const ANSWER_WITHIN_MS = 3_000

/** Applies an agent's action on a leg, by command or at the phone. What the phone has to do is requested from it. */
export function applyCommand(draft: SessionDraft, input: CommandInput): void {
  const { callId, agentUri } = input
  const call = draft.calls.call(callId)
  const leg = draft.calls.leg(callId, agentUri)
  if (call === undefined || leg === undefined) return applyAgentStep(draft.calls, input)
  if (input.kind === 'transfer') return transfer(draft, input, call)
  const channel = draft.channelOf(agentUri)
  const isRinging = input.kind === 'answer' && leg.state === CallState.alerting
  const isOnHold = input.kind === 'resume' && leg.state === CallState.held && channel?.isHeldAtPhone === true
  const isForPhone = isRinging || isOnHold
  // The phone has obeyed, whatever happened to the leg afterwards.
  if (!isForPhone && input.isLate === true) return reportDone(draft.calls, leg, input)
  if (!isForPhone || input.isInVain === true) return applyAgentStep(draft.calls, input)
  if (isOnHold && call.transfer?.by === agentUri) {
    // The customer comes back, and waits until the phone resumes.
    applyAgentStep(draft.calls, input)
    keepHoldsAtPhones(draft)
  }
  const isAsked = channel !== undefined && (isRinging ? answer : resume)(draft, input, channel)
  if (!isAsked) applyAgentStep(draft.calls, { ...input, isInVain: true })
}

/** False: the phone cannot be made to answer. */
function answer(draft: SessionDraft, input: CommandInput, channel: Channel): boolean {
  const { callId, agentUri, commandId, how } = input
  if (how == null || commandId === null) return false
  if (channel.origin === 'lent') {
    // The caller would hear nothing of the agent.
    if (channel.isHeldAtPhone) return false
    answerOnLine(draft, channel)
    return true
  }
  // The line is closed, and the phone rings.
  if (how === 'connected') return false
  draft.accepted = commandId
  if (draft.pendingAnswers.some((pending) => pending.agentUri === agentUri)) {
    reportLater(draft, input, commandId)
    return true
  }
  draft.pendingAnswers = [...draft.pendingAnswers, { callId, agentUri, commandId, how }]
  if (how === 'talk') draft.actions.push({ kind: 'talk', channelId: channel.id })
  else drop(draft, channel, true)
  draft.later.push({ input: { kind: 'answer-overdue', commandId }, dueInMs: ANSWER_WITHIN_MS })
  return true
}

/** The phone itself holds the call, so the phone has to resume it. False: it cannot be made to. */
function resume(draft: SessionDraft, input: CommandInput, channel: Channel): boolean {
  const { commandId, how } = input
  if (how !== 'talk') return false
  draft.accepted = commandId
  draft.actions.push({ kind: 'talk', channelId: channel.id })
  if (commandId !== null) reportLater(draft, input, commandId)
  return true
}

/** No event of the phone names this command, so its result is reported once the phone must have obeyed. */
function reportLater(draft: SessionDraft, input: CommandInput, commandId: CommandId): void {
  // Otherwise the step would count as a repeat of the command.
  const repeatId = uuidV5(commandId, 'result') as CommandId
  draft.later.push({ input: { ...input, isInVain: true, isLate: true, repeatId }, dueInMs: ANSWER_WITHIN_MS })
}

function transfer(
  draft: SessionDraft,
  input: Extract<CommandInput, { kind: 'transfer' }>,
  { transfer: before }: Call,
): void {
  const { calls } = draft
  const { refusal: refused, ...target } = input.target
  // The phone has one channel per session, and it is in another call.
  const isInGroup = target.kind === 'agent' && calls.callsOf(target.agentUri).length > 0
  const refusal = isInGroup ? 'busy' : refused
  const outside = target.kind === 'outside' ? { ...target, line: draft.newName() } : target
  applyAgentStep(calls, { ...input, target: outside })
  const begun = calls.call(input.callId)
  if (refusal === null || begun?.transfer == null || before !== null) return
  const consultation = calls.call(input.consultationCallId)
  const how = ENDINGS[refusal]
  if (consultation !== undefined) return refuse(calls, consultation, how)
  targetFailed(calls, begun, how)
  // Without it, a second transfer that is refused for the same reason would change nothing, and no event would name it.
  if (input.commandId !== null) {
    const failed = { ...failedCommand('transfer', input.commandId), reason: how.endReason }
    calls.report(calls.leg(input.callId, input.agentUri), { failedCommand: failed })
  }
}
