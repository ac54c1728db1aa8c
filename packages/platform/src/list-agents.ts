import type { Tenant } from '@switchhook/contracts'
import type { AgentPage, ProvisionedAgent } from './platform.ts'

/** Lists the provisioned agents of an adapter that holds them all in memory. */
export function createAgentList(agents: readonly ProvisionedAgent[]) {
  const sorted = Map.groupBy(
    agents.toSorted((a, b) => (a.agentUri < b.agentUri ? -1 : Number(a.agentUri > b.agentUri))),
    ({ tenant }) => tenant,
  )
  return (tenant: Tenant, { limit, after = '' }: AgentPage): readonly ProvisionedAgent[] => {
    const own = sorted.get(tenant) ?? []
    const start = own.findIndex(({ agentUri }) => agentUri > after)
    return start < 0 ? [] : own.slice(start, start + limit)
  }
}
