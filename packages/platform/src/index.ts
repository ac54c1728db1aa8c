export {
  type DialCommand,
  type Fact,
  type FactListener,
  type LegCommand,
  type LegConnected,
  type LegEnded,
  type LegOpened,
  type LegProceeding,
  type Platform,
  PlatformUnavailable,
  type ProvisionedAgent,
} from './platform.ts'
export type { SimulatedCall } from './simulator/simulated-call.ts'
export { createSimulator, type DueCue, type SimulatorDeps, type StoredCall } from './simulator/simulator.ts'
