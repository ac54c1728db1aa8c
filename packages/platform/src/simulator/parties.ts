import type { LegReport } from '../platform.ts'
import type { Party, SwitchedCall } from './call-group.ts'
import type { Board } from './draft.ts'

const isAgent = (party: Party, agentUri: string): boolean => party.kind === 'agent' && party.agentUri === agentUri

export const otherParty = ({ caller, called }: SwitchedCall, agentUri: string): Party =>
  isAgent(caller, agentUri) ? called : caller

/** The leg of the customer in a transfer, if the customer is an agent. */
export const customerLeg = (board: Board, call: SwitchedCall, by: string): LegReport | undefined => {
  const customer = otherParty(call, by)
  return customer.kind === 'agent' ? board.leg(call.callId, customer.agentUri) : undefined
}

/** The call that this one is a consultation for, while that is under way. */
export function originalOf(board: Board, { callId, forCallId }: SwitchedCall): SwitchedCall | undefined {
  const original = board.call(forCallId)
  return original?.transfer?.consultation === callId ? original : undefined
}
