/**
 * The rules of calls and transfers are the same whatever carries the calls. The simulator's files hold them; the Asterisk
 * adapter takes them from here alone.
 */
export { Board as Draft, type EndedByWhom } from '../../simulator/board.ts'
export { completeTransfer, deviceGone, hangup } from '../../simulator/complete-transfer.ts'
export { endCall, tellTransfer } from '../../simulator/ending.ts'
export { ENDINGS } from '../../simulator/endings.ts'
export { newDial } from '../../simulator/new-session.ts'
export { originalOf, otherParty } from '../../simulator/parties.ts'
export type { Party, Session as CallFlow, SwitchedCall } from '../../simulator/session.ts'
export { connect } from '../../simulator/talking.ts'
export {
  beginTransfer,
  cancelTransfer,
  ringOn,
  stopRinging,
  targetAnswered,
  targetFailed,
} from '../../simulator/transfers.ts'
