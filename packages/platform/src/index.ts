export { createDevices, type Devices, type DeviceTimer } from './adapter-parts/devices.ts'
export { legCommands } from './adapter-parts/leg-commands.ts'
export { createAgentList } from './adapter-parts/list-agents.ts'
export { type ConnectedLeg, connectedBy, createOneTalk } from './adapter-parts/one-talk.ts'
export {
  type AdapterStorage,
  aliasesOf,
  aliasTo,
  type PbxMemory,
  readByCall,
  type StorageChange,
  type Surroundings,
} from './adapter-parts/storage.ts'
export {
  canonicalAddress,
  isDiallable,
  isSameAddress,
  numberOf,
  presentationOf,
  WITHHELD,
} from './call-model/address.ts'
export { allowedCommands, type CommandOnLeg, checkCommand } from './call-model/check-command.ts'
export { applyReport, type Leg, NEXT } from './call-model/leg.ts'
export { applyAgentStep, failedCommand, reportDone } from './call-rules/agent-actions.ts'
export { beginDial, beginInbound, type InboundCall } from './call-rules/begin-call.ts'
export {
  type AgentStep,
  type Call,
  type CallGroup,
  type CallStep,
  type DeviceState,
  ENDINGS,
  type HowEnded,
  isAgent,
  isOver,
  isSameParty,
  markEnds,
  newCall,
  otherParty,
  type Party,
  type RemoteAction,
  reportsOfLastStep,
  type ScheduledStep,
  type StepResult,
} from './call-rules/call-group.ts'
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
export {
  type DeviceReport,
  type KnownRecords,
  type LegCommand,
  type LegReport,
  type LinkState,
  type Platform,
  type PlatformListener,
  PlatformUnavailable,
  type ProvisionedAgent,
  type StoredRecord,
} from './platform.ts'
