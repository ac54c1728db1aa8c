export { type AgentEntry, provisionAgents, SIMULATED_AGENTS, simulatedAgentsSchema } from './agents.ts'
export { parseScenario, type Scenario } from './scenario.ts'
export { createSimulator, type Simulator } from './simulator.ts'
export { keyOf as simulatedCallKey, stepOf } from './step-runner.ts'
