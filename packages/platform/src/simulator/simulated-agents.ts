import type { AgentEntry } from './agents.ts'

/** Default of `SIMULATOR_AGENTS`. */
export const SIMULATED_AGENTS: readonly AgentEntry[] = [
  { agentUri: 'sip:alice@acme.example', tenant: 'acme', device: 'SIM/alice' },
  { agentUri: 'sip:bob@acme.example', tenant: 'acme', device: 'SIM/bob' },
  { agentUri: 'sip:carol@globex.example', tenant: 'globex', device: 'SIM/carol' },
]

/** JSON Schema 2020-12 of `SIMULATOR_AGENTS`. */
export const simulatedAgentsSchema = {
  type: 'array',
  items: {
    type: 'object',
    required: ['agentUri', 'tenant'],
    properties: {
      agentUri: { type: 'string', minLength: 1, maxLength: 255 },
      tenant: { type: ['string', 'null'], minLength: 1, maxLength: 128 },
      device: { type: ['string', 'null'] },
      count: { type: 'integer', minimum: 1, maximum: 100_000 },
    },
    additionalProperties: false,
  },
} as const
