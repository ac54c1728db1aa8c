import type { Tenant, ValueOf } from '@switchhook/contracts'
import { canonicalAddress, type Party, type ProvisionedAgent } from '@switchhook/platform'

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

/** One agent, or `count` agents with `{n}` from 1 in the URI and the device. */
export type AgentEntry = ValueOf<typeof simulatedAgentsSchema>[number]

/** Default of `SIMULATOR_AGENTS`. */
export const SIMULATED_AGENTS: readonly AgentEntry[] = [
  { agentUri: 'sip:alice@acme.example', tenant: 'acme', device: 'SIM/alice' },
  { agentUri: 'sip:bob@acme.example', tenant: 'acme', device: 'SIM/bob' },
  { agentUri: 'sip:carol@globex.example', tenant: 'globex', device: 'SIM/carol' },
]

export function provisionAgents(entries: readonly AgentEntry[]): readonly ProvisionedAgent[] {
  return entries.flatMap(({ agentUri, tenant, device = null, count }) =>
    count === undefined
      ? [{ agentUri, tenant, device }]
      : Array.from({ length: count }, (_, at) => ({
          agentUri: numbered(agentUri, at + 1),
          tenant,
          device: device === null ? null : numbered(device, at + 1),
        })),
  )
}

const numbered = (text: string, n: number): string => text.replaceAll('{n}', String(n))

export function createDirectory(agents: readonly ProvisionedAgent[]) {
  const byName = new Map(agents.map((agent) => [nameOf(agent.tenant, agent.agentUri), agent]))
  const find = (tenant: Tenant, agentUri: string): ProvisionedAgent | undefined => byName.get(nameOf(tenant, agentUri))
  /** An address is an outside party unless it is the URI of an agent of the tenant. */
  const partyOf = (tenant: Tenant, address: string): Party => {
    const agent = find(tenant, address)
    if (agent === undefined) return { kind: 'outside', address }
    return { kind: 'agent', agentUri: agent.agentUri, device: agent.device }
  }
  return { find, partyOf }
}

const nameOf = (tenant: Tenant, agentUri: string): string => JSON.stringify([tenant, canonicalAddress(agentUri)])
