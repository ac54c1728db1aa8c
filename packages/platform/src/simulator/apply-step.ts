import { type CallCommand, CallState, type CommandId, EndReason } from '@switchhook/contracts'
import { completeTransfer, deviceGone, hangup } from './agent-actions.ts'
import type { Cue, DeviceState, LegCue, Played, Session } from './call-group.ts'
import { answer, remote, ringOut, route } from './calls.ts'
import { behaviourOf } from './destinations.ts'
import { Board } from './draft.ts'
import { otherParty } from './parties.ts'
import { beginTransfer, cancelTransfer, routeTransfer, stopRinging, targetAnswered, targetFailed } from './transfers.ts'

export interface Surroundings {
  /** ISO 8601, UTC. */
  readonly at: string
  /** Of the agent that `rungBy` names. */
  readonly deviceOf: (agentUri: string) => DeviceState
}

/**
 * The life of a session, one step at a time. Pure: the same cue on the same session makes the same step. A cue that no
 * longer fits (an answer after the hang-up) changes nothing; a command that no longer fits a live leg is told to have
 * come to nothing; a command that was carried out is not carried out again.
 */
export function play(session: Session, cue: Cue, surroundings: Surroundings): Played {
  const commandId = 'commandId' in cue ? cue.commandId : null
  if (commandId !== null && session.commands.includes(commandId)) return { session, later: [] }
  const board = new Board(session, surroundings.at, commandId)
  playOn(board, cue, surroundings.deviceOf)
  return board.finish()
}

/** The agent whose device will be rung by this cue, if one will. */
export function rungBy(session: Session, cue: Cue): string | undefined {
  if (cue.kind !== 'route' && cue.kind !== 'transfer-route') return undefined
  const call = session.calls[cue.callId]
  const party = cue.kind === 'route' ? call?.called : call?.transfer?.target
  return party?.kind === 'agent' ? party.agentUri : undefined
}

function playOn(board: Board, cue: Cue, deviceOf: Surroundings['deviceOf']): void {
  if (cue.kind === 'tell') return
  if (cue.kind === 'device-gone') return deviceGone(board, cue.agentUri)
  if ('agentUri' in cue) return playLeg(board, cue)
  const call = board.call(cue.callId)
  if (call === undefined) return
  switch (cue.kind) {
    case 'route':
      return route(board, call, deviceOf)
    case 'ring-out':
      return ringOut(board, call)
    case 'remote':
      return remote(board, call, cue.action)
    case 'transfer-route':
      return routeTransfer(board, call, deviceOf)
    case 'transfer-answer':
      return targetAnswered(board, call)
    case 'transfer-ring-out':
      if (call.transfer?.ringsIn == null) return
      stopRinging(board, call, 'noAnswer')
      return targetFailed(board, call, EndReason.noAnswer)
  }
}

/** What an agent does with a leg, in the state that it has to be in; anywhere else it comes to nothing. */
function playLeg(board: Board, cue: LegCue): void {
  const { callId, agentUri } = cue
  const call = board.call(callId)
  const leg = board.leg(callId, agentUri)
  if (call === undefined || leg === undefined) return
  const { state } = leg
  const isTalk = state === CallState.connected || state === CallState.held
  if (cue.kind === 'hangup') return hangup(board, callId, agentUri)
  if (cue.kind === 'answer' && state === CallState.alerting) return answer(board, callId, agentUri)
  if (cue.kind === 'transfer' && isTalk && call.transfer === null && call.phase === 'talking') {
    return beginTransfer(board, call, cue)
  }
  if (cue.kind === 'completeTransfer' && call.transfer?.by === agentUri && call.transfer.consultation !== null) {
    return completeTransfer(board, call)
  }
  if (cue.kind === 'resume' && call.transfer?.by === agentUri) return cancelTransfer(board, call)
  const isHold = cue.kind === 'hold'
  if ((isHold && state === CallState.held) || (cue.kind === 'resume' && state === CallState.connected)) return
  if ((isHold || cue.kind === 'resume') && isTalk && !(isHold && refusesHold(otherParty(call, agentUri)))) {
    board.tell(leg, { state: isHold ? CallState.held : CallState.connected })
    const other = otherParty(call, agentUri)
    if (other.kind === 'agent') board.tell(board.leg(callId, other.agentUri), { remoteHeld: isHold })
    return
  }
  if (cue.commandId !== null) board.tell(leg, { failedCommand: failed(cue.kind, cue.commandId) })
}

const refusesHold = (party: ReturnType<typeof otherParty>): boolean => {
  const behaviour = party.kind === 'outside' ? behaviourOf(party.address) : undefined
  return behaviour?.kind === 'answers' && behaviour.refusesHold === true
}

const COMMANDS: Readonly<Record<LegCue['kind'], CallCommand>> = {
  answer: 'answer',
  hangup: 'hangup',
  hold: 'hold',
  resume: 'resume',
  transfer: 'transfer',
  completeTransfer: 'transfer',
  'answer in vain': 'answer',
  'resume in vain': 'resume',
}

const failed = (kind: LegCue['kind'], commandId: CommandId) => ({
  commandId,
  command: COMMANDS[kind],
  reason: EndReason.failed,
})
