import type { StateStore } from '@switchhook/store'
import { type Agent, newAgent } from '../agents/agent.ts'
import { agentKey } from './keys.ts'

/** As provisioned, if nothing has happened to the agent yet. */
export async function readAgent(
  store: Pick<StateStore, 'read'>,
  tenant: string | null,
  agentUri: string,
): Promise<Agent> {
  const [stored] = await store.read(tenant, [agentKey(agentUri)])
  return (stored?.value as Agent | undefined) ?? newAgent(agentUri)
}
