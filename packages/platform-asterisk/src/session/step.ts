import { CallState, type CommandId } from '@switchhook/contracts'
import { deviceOffline, failedCommand } from '@switchhook/platform'
import type { Action } from './action.ts'
import { applyChannelInput } from './apply-channel-input.ts'
import { applyCommand } from './apply-command.ts'
import { applyList } from './apply-list.ts'
import type { Input } from './input.ts'
import { applyLineInput, closeLine } from './open-line.ts'
import { keepHoldsAtPhones } from './phone-hold.ts'
import { phoneTransfers, tellPhones } from './phone-transfer.ts'
import { planChannels } from './plan-channels.ts'
import type { PbxSession } from './session.ts'
import { type LaterInput, SessionDraft } from './session-draft.ts'

/** The next state of a session, and the actions to request from Asterisk. The actions can be repeated. */
export interface Stepped {
  readonly session: PbxSession
  readonly actions: readonly Action[]
  readonly later: readonly LaterInput[]
}

/**
 * Applies one input to a session, by the shared rules of calls and transfers. Pure: the same input on the same session
 * gives the same step. An input that no longer fits changes nothing. A command is carried out once.
 * @param busyElsewhere agents who talk or dial in a call of another session; absent: none
 */
export function step(session: PbxSession, input: Input, atMs: number, busyElsewhere?: ReadonlySet<string>): Stepped {
  const commandId = commandOf(session, input)
  const repeatId = ('repeatId' in input ? input.repeatId : undefined) ?? commandId
  const isCommand = 'commandId' in input && input.kind !== 'answer-overdue'
  const isRepeated = isCommand && repeatId !== null && session.group.commands.includes(repeatId)
  if (isRepeated) return { session, actions: [], later: [] }
  const draft = new SessionDraft(session, atMs, { commandId, repeatId, ...(busyElsewhere && { busyElsewhere }) })
  applyInput(draft, input)
  return finishStep(draft)
}

/** Ends the step: requests the channels and bridges that the calls need now. */
export function finishStep(draft: SessionDraft): Stepped {
  // First: a phone whose transfer has succeeded is told before its channel ends.
  tellPhones(draft)
  keepHoldsAtPhones(draft)
  planChannels(draft)
  // Last: nothing else waits for a phone that is slow to obey.
  const actions = draft.actions.toSorted((a, b) => Number(a.kind === 'talk') - Number(b.kind === 'talk'))
  return { session: draft.finish(), actions, later: draft.later }
}

/** The command that the reports of this step name as their cause. */
function commandOf({ pendingAnswers, channels }: PbxSession, input: Input): CommandId | null {
  if (input.kind === 'up' || input.kind === 'ready') {
    const line = channels.find(({ id }) => id === input.channelId)?.line
    return pendingAnswers.find(({ agentUri }) => agentUri === line)?.commandId ?? null
  }
  return 'commandId' in input ? input.commandId : null
}

function applyInput(draft: SessionDraft, input: Input): void {
  switch (input.kind) {
    case 'listed':
      return applyList(draft, input)
    case 'device-gone':
      closeLine(draft, input.agentUri)
      return deviceOffline(draft.calls, input.agentUri)
    case 'line-opens':
    case 'line-lent':
    case 'line-overdue':
    case 'line-returned':
      return applyLineInput(draft, input)
    case 'answer-overdue':
      return answerOverdue(draft, input.commandId)
    case 'phone-transfers':
      return phoneTransfers(draft, input)
    default:
      return 'channelId' in input ? applyChannelInput(draft, input) : applyCommand(draft, input)
  }
}

/** The phone did not answer when requested. The call continues to ring. */
function answerOverdue(draft: SessionDraft, commandId: CommandId): void {
  const pending = draft.pendingAnswers.find((one) => one.commandId === commandId)
  if (pending === undefined) return
  draft.pendingAnswers = draft.pendingAnswers.filter((one) => one !== pending)
  const leg = draft.calls.leg(pending.callId, pending.agentUri)
  if (leg?.state === CallState.alerting) draft.calls.report(leg, { failedCommand: failedCommand('answer', commandId) })
}
