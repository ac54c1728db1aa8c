export type { PbxAgent } from './asterisk/agents.ts'
export type { AriServer } from './asterisk/ari/ari-client.ts'
export type { ManagerLogin } from './asterisk/ari/talk.ts'
export { type AsteriskDeps, type AsteriskPlatform, createAsterisk } from './asterisk/asterisk.ts'
export type { Trunk } from './asterisk/dial-string.ts'
export type { LinkState } from './asterisk/link.ts'
export type { PbxChange, PbxMemory, PbxRecord } from './asterisk/store/memory.ts'
export {
  ALLOWED,
  type CommandOnLeg,
  isSameAddress,
  judgeCommand,
  type Verdict,
} from './call-model/judge-command.ts'
export { applyReport, type Leg } from './call-model/leg.ts'
export {
  type DeviceReport,
  type DialCommand,
  type Ending,
  type LegCommand,
  type LegReport,
  type Platform,
  type PlatformListener,
  PlatformUnavailable,
  type ProvisionedAgent,
  type TalkCommand,
  type TransferCommand,
} from './platform.ts'
export type { MemoryChange, Remembered, SimulatorMemory } from './simulator/memory.ts'
export { type AgentEntry, provisionAgents } from './simulator/provision-agents.ts'
export { parseScenario, type Scenario } from './simulator/scenario.ts'
export type { RemoteAction } from './simulator/session.ts'
export { createSimulator, type InboundCall, type Simulator, type SimulatorDeps } from './simulator/simulator.ts'
