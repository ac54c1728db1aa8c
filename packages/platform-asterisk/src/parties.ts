import type { Tenant } from '@switchhook/contracts'
import { numberOf, type Party, presentationOf, type Surroundings, WITHHELD } from '@switchhook/platform'
import type { PbxAgents } from './agents.ts'
import type { AsteriskSettings } from './asterisk-config.ts'
import { dialString } from './dial-string.ts'
import type { Shown } from './session/action.ts'
import type { Callee } from './session/input.ts'

export interface PartiesDeps extends Pick<AsteriskSettings, 'trunk' | 'defaultCli'>, Pick<Surroundings, 'liveCalls'> {
  readonly agents: PbxAgents
}

/** One call to talk on, and one that rings or is held. Asterisk sets no limit. */
const LINES = 2

/** Characters that a name in a SIP header is better without. */
const NOT_IN_NAMES = /["\\<>\p{Cc}]/gu

export type Parties = ReturnType<typeof createParties>

/** Resolves addresses to parties, and parties to the endpoints that Asterisk dials and the numbers that it shows. */
export function createParties({ agents, trunk, defaultCli, liveCalls }: PartiesDeps) {
  const agent = (tenant: Tenant, agentUri: string): Extract<Party, { kind: 'agent' }> => {
    const found = agents.find(tenant, agentUri)
    return { kind: 'agent', agentUri, device: found === undefined ? null : `PJSIP/${found.endpoint}` }
  }
  const defaultNumber = numberOf(defaultCli)
  if (defaultNumber === null) throw new TypeError(`the default number to show is not a number: ${defaultCli}`)

  /** The number that an outside party sees, or `WITHHELD`. */
  const cliOf = (wanted: string | null): string => presentationOf(wanted ?? '') ?? defaultNumber

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
    /** What a called party is shown. A trunk needs a number to admit a call, also of a caller who withholds it. */
    shownAs(tenant: Tenant, shows: Shown) {
      if (shows.kind === 'cli') {
        const cli = cliOf(shows.cli)
        return { number: cli === WITHHELD ? defaultNumber : cli, isWithheld: cli === WITHHELD }
      }
      if (shows.kind === 'outside' && shows.address === WITHHELD) return { number: 'anonymous', name: 'Anonymous' }
      const known = shows.kind === 'outside' ? numberOf(shows.address) : agents.find(tenant, shows.agentUri)?.extension
      const number = known ?? defaultNumber
      const name = shows.kind === 'outside' ? shows.name?.replaceAll(NOT_IN_NAMES, '') : undefined
      return { number, name: name || number }
    },
    cliOf,
  }
}
