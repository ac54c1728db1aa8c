import type { Tenant } from '@switchhook/contracts'
import type { Platform } from './platform.ts'

/**
 * The URI of an agent as provisioned, for any spelling: events name the agent by it. The events of an agent who is not
 * provisioned any more are found only by the spelling that they have. If an agent is provisioned with another spelling than
 * before, the earlier events are not found.
 */
export async function provisionedUri(
  platform: Pick<Platform, 'findAgent'>,
  tenant: Tenant,
  agentUri: string,
): Promise<string> {
  const agent = await platform.findAgent(tenant, agentUri)
  return agent?.agentUri ?? agentUri
}
