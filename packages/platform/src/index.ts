export type { PbxAgent } from './asterisk/agents.ts'
export { type AsteriskPlatform, createAsterisk } from './asterisk/asterisk.ts'
export { asteriskFields, asteriskRules, asteriskServer, asteriskSettings } from './asterisk/asterisk-config.ts'
export type { UnknownChannels } from './asterisk/leftovers/leftovers.ts'
export { openUnknown, type UnknownInAsterisk } from './asterisk/leftovers/unknown-channels.ts'
export type { LinkState } from './asterisk/link.ts'
export { type Watch, watchAsterisk } from './asterisk/watch.ts'
export { isSameAddress } from './call-model/address.ts'
export { allowedCommands, type CommandOnLeg, checkCommand } from './call-model/check-command.ts'
export { applyReport, type Leg } from './call-model/leg.ts'
export {
  type DeviceReport,
  type KnownRecords,
  type LegReport,
  type Platform,
  type PlatformListener,
  PlatformUnavailable,
  type ProvisionedAgent,
} from './platform.ts'
export { type AgentEntry, provisionAgents, SIMULATED_AGENTS, simulatedAgentsSchema } from './simulator/agents.ts'
export type { RemoteAction } from './simulator/call-group.ts'
export { parseScenario, type Scenario } from './simulator/scenario.ts'
export { createSimulator, type Simulator } from './simulator/simulator.ts'
export { keyOf as simulatedCallKey, stepOf } from './simulator/step-runner.ts'
export type { PbxMemory } from './storage.ts'
