import { CallState } from '@switchhook/contracts'
import type { Party, SwitchedCall } from './call-group.ts'
import { behaviourOf, LONGEST_TALK_MS } from './destinations.ts'
import type { Board } from './draft.ts'

/** Both sides talk from now on. */
export function connect(board: Board, call: SwitchedCall): void {
  board.put({ ...call, phase: 'talking' })
  for (const leg of board.legsOf(call.callId)) board.tell(leg, { state: CallState.connected })
  talkFor(board, call, call.called)
  if (call.caller.kind === 'outside') {
    board.later({ kind: 'remote', callId: call.callId, action: 'hangup' }, call.talkMs ?? LONGEST_TALK_MS)
  }
}

/** What an outside party does once it talks. */
export function talkFor(board: Board, { callId }: SwitchedCall, party: Party): void {
  if (party.kind === 'agent') return
  const behaviour = behaviourOf(party.address)
  if (behaviour.kind !== 'answers') return
  board.later({ kind: 'remote', callId, action: 'hangup' }, behaviour.talkMs)
  if (behaviour.holds === undefined) return
  const { afterMs, forMs } = behaviour.holds
  board.later({ kind: 'remote', callId, action: 'hold' }, afterMs)
  board.later({ kind: 'remote', callId, action: 'resume' }, afterMs + forMs)
}
