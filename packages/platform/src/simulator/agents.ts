import type { ProvisionedAgent } from '../platform.ts'

/** An entry of `SIMULATOR_AGENTS`: one agent, or `count` of them, with `{n}` from 1 in URI and device. */
export interface AgentEntry {
  readonly agentUri: string
  readonly tenant: string | null
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
