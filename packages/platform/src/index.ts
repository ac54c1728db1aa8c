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
export { keyOf as simulatedCallKey } from './simulator/sessions.ts'
export { createSimulator, type InboundCall, type Simulator, type SimulatorDeps } from './simulator/simulator.ts'
export { type ChangedStep, stepOf } from './simulator/step-of-change.ts'
