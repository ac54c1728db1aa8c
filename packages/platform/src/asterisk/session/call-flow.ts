/**
 * The rules of calls and transfers are the same on every platform. They are in the simulator's files; the Asterisk adapter
 * imports them from this file only.
 */

export { applyAgentStep } from '../../simulator/agent-actions.ts'
export { beginDial } from '../../simulator/begin-call.ts'
export type { AgentStep, CallGroup, HowEnded, Party, SimulatedCall } from '../../simulator/call-group.ts'
export { ENDINGS, newCall, otherParty } from '../../simulator/call-group.ts'
export { connect, endCall, failedCommand, ring } from '../../simulator/calls.ts'
export { Draft, type DraftContext, type EndedByParty } from '../../simulator/draft.ts'
export { deviceOffline, hangup } from '../../simulator/leave-call.ts'
export {
  reportBegun,
  ringForCustomer,
  stopRinging,
  targetAnswered,
  targetFailed,
} from '../../simulator/transfers.ts'
