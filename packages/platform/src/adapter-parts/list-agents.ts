import type { Platform, ProvisionedAgent } from '../platform.ts'

/** Lists the provisioned agents of an adapter that holds them all in memory. */
export function createAgentList(agents: readonly ProvisionedAgent[]): Platform['listAgents'] {
  const sorted = Map.groupBy(
    agents.toSorted((a, b) => (a.agentUri < b.agentUri ? -1 : Number(a.agentUri > b.agentUri))),
    ({ tenant }) => tenant,
  )
  return async (tenant, { limit, after = '' }) => {
    const own = sorted.get(tenant) ?? []
    const start = own.findIndex(({ agentUri }) => agentUri > after)
    return start < 0 ? [] : own.slice(start, start + limit)
  }
}
