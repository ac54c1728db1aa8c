import type { Tenant } from '@switchhook/contracts'
import { canonicalAddress, type ProvisionedAgent } from '@switchhook/platform'
import { isEndpointName } from './dial-string.ts'
import type { RemoteAnswer } from './session/session.ts'

/** An agent whose phone is an endpoint of this Asterisk. */
export interface PbxAgent {
  readonly agentUri: string
  readonly tenant: Tenant
  /** In `pjsip.conf`. */
  readonly endpoint: string
  /** The number that callers and colleagues dial for this agent, unique in the tenant; null: none. */
  readonly extension: string | null
  /** How the api makes the ringing phone answer; `none`: only the agent can. */
  readonly answer: RemoteAnswer | 'none'
}

export type PbxAgents = ReturnType<typeof pbxAgents>

/** @throws TypeError if two agents share a URI, extension or endpoint, or an endpoint's name is invalid */
export function pbxAgents(all: readonly PbxAgent[]) {
  const byUri = index(all, ({ tenant, agentUri }) => key(tenant, agentUri), 'tenant and URI')
  const byEndpoint = index(all, ({ endpoint }) => endpoint, 'endpoint')
  const reachable = all.filter(({ extension }) => extension !== null)
  const byExtension = index(reachable, ({ tenant, extension }) => key(tenant, extension ?? ''), 'tenant and extension')
  for (const { endpoint } of all) {
    if (!isEndpointName(endpoint)) throw new TypeError(`not the name of an endpoint: ${JSON.stringify(endpoint)}`)
  }
  return {
    all,
    find: (tenant: Tenant, agentUri: string): PbxAgent | undefined => byUri.get(key(tenant, agentUri)),
    withExtension: (tenant: Tenant, extension: string): PbxAgent | undefined => byExtension.get(key(tenant, extension)),
    /** The agent that callers from outside reach under this number. */
    calledAt: (number: string): PbxAgent | undefined => {
      const found = reachable.filter(({ extension }) => extension === number)
      // Two tenants may use the same extension; then the number alone is ambiguous.
      return found.length === 1 ? found[0] : undefined
    },
    atEndpoint: (endpoint: string): PbxAgent | undefined => byEndpoint.get(endpoint),
  }
}

export const provisioned = ({ agentUri, tenant, endpoint, answer }: PbxAgent): ProvisionedAgent => ({
  agentUri,
  tenant,
  device: `PJSIP/${endpoint}`,
  ...(answer === 'none' && { remoteAnswer: false }),
})

function index(
  agents: readonly PbxAgent[],
  of: (agent: PbxAgent) => string,
  what: string,
): ReadonlyMap<string, PbxAgent> {
  const found = new Map<string, PbxAgent>()
  for (const agent of agents) {
    const taken = found.get(of(agent))
    if (taken !== undefined) throw new TypeError(`${taken.agentUri} and ${agent.agentUri} have the same ${what}`)
    found.set(of(agent), agent)
  }
  return found
}

const key = (tenant: Tenant, name: string): string => JSON.stringify([tenant, canonicalAddress(name)])
