import type { Tenant } from '@switchhook/contracts'
import { numberOf, type Party, type Surroundings } from '@switchhook/platform'
import type { PbxAgents } from './agents.ts'
import type { AsteriskSettings } from './asterisk-config.ts'
import { dialString } from './dial-string.ts'
import type { Callee } from './session/input.ts'

export interface PartiesDeps extends Pick<AsteriskSettings, 'trunk' | 'defaultCli'>, Pick<Surroundings, 'liveCalls'> {
  readonly agents: PbxAgents
}

/** One call to talk on, and one that rings or is held. Asterisk sets no limit. */
const LINES = 2

export type Parties = ReturnType<typeof createParties>

/** Resolves addresses to parties, and parties to the endpoints that Asterisk dials and the numbers that it shows. */
export function createParties({ agents, trunk, defaultCli, liveCalls }: PartiesDeps) {
  const agent = (tenant: Tenant, agentUri: string): Extract<Party, { kind: 'agent' }> => {
    const found = agents.find(tenant, agentUri)
    return { kind: 'agent', agentUri, device: found === undefined ? null : `PJSIP/${found.endpoint}` }
  }
  const defaultNumber = numberOf(defaultCli)
  if (defaultNumber === null) throw new TypeError(`the default number to show is not a number: ${defaultCli}`)

  return {
    agent,
    /** An agent, an agent's extension or an outside address, and whether it can be called now. */
    called: async (tenant: Tenant, address: string): Promise<Callee> => {
      const found = agents.find(tenant, address) ?? agents.withExtension(tenant, address)
      if (found === undefined) {
        return { kind: 'outside', address, refusal: dialString(address, trunk) === null ? 'badAddress' : null }
      }
      const calls = await liveCalls(tenant, found.agentUri)
      return { ...agent(tenant, found.agentUri), refusal: calls.length < LINES ? null : 'busy' }
    },
    /** Endpoint to dial; null: the party cannot be dialled. */
    endpointOf(tenant: Tenant, party: Party): string | null {
      return party.kind === 'outside' ? dialString(party.address, trunk) : agent(tenant, party.agentUri).device
    },
    /** The number that a phone shows for a party; only digits, letters and `+`. */
    shownAs(tenant: Tenant, party: Party): string {
      if (party.kind === 'outside') return numberOf(party.address) ?? defaultNumber
      return agents.find(tenant, party.agentUri)?.extension ?? defaultNumber
    },
    /** The number that is shown to an outside party; a wish that is no number counts as none. */
    cliOf: (wanted: string | null): string => numberOf(wanted ?? '') ?? defaultNumber,
  }
}
