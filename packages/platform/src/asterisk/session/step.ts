import { CallState, type CommandId } from '@switchhook/contracts'
import type { Action } from './action.ts'
import { deviceOffline } from './call-flow.ts'
import { playChannel, playList } from './channel-cues.ts'
import { failed, playCommand } from './command-cues.ts'
import type { Cue } from './cue.ts'
import { planChannels } from './plan-channels.ts'
import type { PbxSession } from './session.ts'
import { type LaterCue, SessionDraft } from './session-draft.ts'

/** The next state of a session, and the actions to request from Asterisk. The actions can be repeated. */
export interface Stepped {
  readonly session: PbxSession
  readonly actions: readonly Action[]
  readonly later: readonly LaterCue[]
}

/**
 * Applies one cue to a session. Pure: the same cue on the same session gives the same step. A cue that no longer fits
 * changes nothing. A command is carried out once.
 */
export function step(session: PbxSession, cue: Cue, atMs: number): Stepped {
  const commandId = commandOf(session, cue)
  const isRepeated = 'commandId' in cue && cue.kind !== 'answer-overdue' && isKnown(session, cue.commandId)
  if (isRepeated) return { session, actions: [], later: [] }
  const draft = new SessionDraft(session, atMs, commandId)
  play(draft, cue)
  return finishStep(draft)
}

/** Ends the step: requests the channels and bridges that the calls need now. */
export function finishStep(draft: SessionDraft): Stepped {
  planChannels(draft)
  return { session: draft.finish(), actions: draft.actions, later: draft.later }
}

const isKnown = ({ group }: PbxSession, commandId: CommandId | null): boolean =>
  commandId !== null && group.commands.includes(commandId)

/** The command that the reports of this step name as their cause. */
function commandOf({ pendingAnswers, channels }: PbxSession, cue: Cue): CommandId | null {
  if (cue.kind === 'up' || cue.kind === 'ready') {
    const line = channels.find(({ id }) => id === cue.channelId)?.line
    return pendingAnswers.find(({ agentUri }) => agentUri === line)?.commandId ?? null
  }
  return 'commandId' in cue ? cue.commandId : null
}

function play(draft: SessionDraft, cue: Cue): void {
  switch (cue.kind) {
    case 'listed':
      return playList(draft, cue)
    case 'device-gone':
      return deviceOffline(draft.calls, cue.agentUri)
    case 'answer-overdue':
      return answerOverdue(draft, cue.commandId)
    case 'phone-transfers':
      return phoneTransfers(draft, cue)
    default:
      return 'channelId' in cue ? playChannel(draft, cue) : playCommand(draft, cue)
  }
}

/** The phone did not answer when requested. The call continues to ring. */
function answerOverdue(draft: SessionDraft, commandId: CommandId): void {
  const pending = draft.pendingAnswers.find((one) => one.commandId === commandId)
  if (pending === undefined) return
  draft.pendingAnswers = draft.pendingAnswers.filter((one) => one !== pending)
  const leg = draft.calls.leg(pending.callId, pending.agentUri)
  if (leg?.state === CallState.alerting) draft.calls.report(leg, { failedCommand: failed('answer', commandId) })
}

/** Asterisk leaves the transfer to the adapter, which applies it like the command. */
function phoneTransfers(draft: SessionDraft, cue: Extract<Cue, { kind: 'phone-transfers' }>): void {
  const line = draft.channel(cue.channelId)?.line ?? ''
  const call = draft.calls
    .callsOf(line)
    .find(({ callId }) => draft.isConnected(callId, line) || draft.calls.leg(callId, line)?.state === CallState.held)
  if (call !== undefined) {
    const { callId } = call
    const transfer = { callId, agentUri: line, commandId: null, correlationId: null, consultationCallId: null }
    playCommand(draft, { kind: 'transfer', ...transfer, target: cue.target })
  }
  const isAccepted = call !== undefined && draft.calls.call(call.callId)?.transfer?.by === line
  draft.actions.push({ kind: 'transfer-progress', channelId: cue.channelId, isAccepted })
}
