import type { Tenant } from '@switchhook/contracts'
import type { ProvisionedAgent } from '../platform.ts'
import type { Party } from './call-group.ts'

/** An entry of `SIMULATOR_AGENTS`: one agent, or `count` agents with `{n}` from 1 in the URI and the device. */
export interface AgentEntry {
  readonly agentUri: string
  readonly tenant: Tenant
  readonly device?: string | null
  readonly count?: number
}

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

/** Finds agents by tenant and URI. */
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

const nameOf = (tenant: Tenant, agentUri: string): string => JSON.stringify([tenant, agentUri])
