export { type AgentEntry, provisionAgents, SIMULATED_AGENTS, simulatedAgentsSchema } from './agents.ts'
export { type Scenario, scenarioSchema } from './scenario.ts'
export { createSimulator, type Simulator } from './simulator.ts'
export { keyOf as simulatedCallKey, stepOf } from './step-runner.ts'
