export { createDevices, type Devices, type DeviceTimer } from './adapter-parts/devices.ts'
export * from './adapter-parts/leg-commands.ts'
export * from './adapter-parts/list-agents.ts'
export * from './adapter-parts/one-talk.ts'
export * from './adapter-parts/storage.ts'
export * from './call-model/address.ts'
export { allowedCommands, type CommandOnLeg, checkCommand } from './call-model/check-command.ts'
export * from './call-model/leg.ts'
export * from './call-rules/agent-actions.ts'
export * from './call-rules/begin-call.ts'
export * from './call-rules/call-group.ts'
export { connect, endCall, outsideHolds, refuse, remote, ring, ringOut, route } from './call-rules/calls.ts'
export { answerOf, remotePartyOf } from './call-rules/destinations.ts'
export { Draft, type DraftContext, type EndedByParty } from './call-rules/draft.ts'
export { deviceOffline, hangup } from './call-rules/leave-call.ts'
export { busyElsewhere } from './call-rules/live-calls.ts'
export {
  reportBegun,
  ringForCustomer,
  routeTransfer,
  stopRinging,
  targetAnswered,
  targetFailed,
} from './call-rules/transfers.ts'
export * from './platform.ts'
export * from './provisioned-uri.ts'
