import type { Tenant } from '@switchhook/contracts'
import type { LiveCalls } from '../live-calls.ts'
import type { PbxAgents } from './agents.ts'
import { dialledNumber, dialString, type Trunk } from './dial-string.ts'
import type { Party } from './session/call-flow.ts'
import type { Refusal } from './session/input.ts'

export interface PartiesDeps {
  readonly agents: PbxAgents
  readonly trunk: Trunk
  readonly defaultCli: string
  readonly liveCalls: LiveCalls
}

/** One call to talk on, and one that rings or is held. Asterisk sets no limit. */
const LINES = 2

/** Resolves addresses to parties, and parties to the endpoints that Asterisk dials and the numbers that it shows. */
export interface Parties {
  agent(tenant: Tenant, agentUri: string): Party
  /** An agent, an agent's extension or an outside address, and whether it can be called now. */
  called(tenant: Tenant, address: string): Promise<{ readonly party: Party; readonly refusal: Refusal | null }>
  endpointOf(tenant: Tenant, party: Party): string | null
  shownAs(tenant: Tenant, party: Party): string
  cliOf(wanted: string | null): string
}

export function createParties({ agents, trunk, defaultCli, liveCalls }: PartiesDeps): Parties {
  const agent = (tenant: Tenant, agentUri: string): Party => {
    const found = agents.find(tenant, agentUri)
    return { kind: 'agent', agentUri, device: found === undefined ? null : `PJSIP/${found.endpoint}` }
  }
  const defaultNumber = dialledNumber(defaultCli)
  if (defaultNumber === null) throw new TypeError(`the default number to show is not a number: ${defaultCli}`)

  return {
    agent,
    async called(tenant, address) {
      const found = agents.find(tenant, address) ?? agents.withExtension(tenant, dialledNumber(address) ?? address)
      if (found === undefined) {
        const party: Party = { kind: 'outside', address }
        return { party, refusal: dialString(address, trunk) === null ? 'badAddress' : null }
      }
      const calls = await liveCalls(tenant, found.agentUri)
      return { party: agent(tenant, found.agentUri), refusal: calls.length < LINES ? null : 'busy' }
    },
    endpointOf(tenant, party) {
      if (party.kind === 'outside') return dialString(party.address, trunk)
      const found = agents.find(tenant, party.agentUri)
      return found === undefined ? null : `PJSIP/${found.endpoint}`
    },
    shownAs(tenant, party) {
      if (party.kind === 'outside') return dialledNumber(party.address) ?? defaultNumber
      return agents.find(tenant, party.agentUri)?.extension ?? defaultNumber
    },
    cliOf: (wanted) => dialledNumber(wanted ?? '') ?? defaultNumber,
  }
}
