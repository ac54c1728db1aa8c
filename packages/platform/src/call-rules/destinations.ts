import { PartyType, type RemoteParty } from '@switchhook/contracts'
import { isSipUri, numberOf } from '../call-model/address.ts'
import { type DeviceState, ENDINGS, type HowEnded, type Party } from './call-group.ts'

/** Time until the called party is found. */
export const ROUTING_MS = 300
/** Ringing time after which an unanswered call ends. */
export const RING_OUT_MS = 30_000
/** An outside party hangs up after this time at the latest. */
export const MAX_TALK_MS = 10 * 60_000

/** How an outside party answers. Times start when it begins to ring, unless stated otherwise. */
interface Answering {
  readonly afterMs: number
  /** Time from its answer until it hangs up. */
  readonly talkMs: number
  readonly refusesHold?: true
  /** It holds the agent `afterMs` after its answer, for `forMs`. */
  readonly holds?: { readonly afterMs: number; readonly forMs: number }
}

/** How an outside party behaves when it is called. Without an answer and a failure, it rings out. */
interface Behaviour {
  readonly answer?: Answering
  readonly failure?: HowEnded
}

const answers = (afterMs: number, more: Partial<Answering> = {}): Behaviour => ({
  answer: { afterMs, talkMs: MAX_TALK_MS, ...more },
})

/** Documented in docs/simulator.md. */
const FIXED: Readonly<Record<string, Behaviour>> = {
  '+15550100': answers(1_000),
  '+15550101': { failure: ENDINGS.busy },
  '+15550102': {},
  '+15550103': { failure: ENDINGS.badAddress },
  '+15550104': answers(1_000, { refusesHold: true }),
  '+15550105': answers(1_000, { talkMs: 5_000 }),
  '+15550106': answers(1_000, { holds: { afterMs: 2_000, forMs: 3_000 } }),
}

/** `+1555011n` answers after n seconds. */
const AFTER_SECONDS = /^\+1555011([0-9])$/

const ANY_NUMBER = answers(2_500)
const NO_SUCH_ADDRESS: Behaviour = { failure: ENDINGS.badAddress }

function behaviourOf(address: string): Behaviour {
  const number = numberOf(address)
  if (number === null) return NO_SUCH_ADDRESS
  const seconds = AFTER_SECONDS.exec(number)?.[1]
  return FIXED[number] ?? (seconds === undefined ? ANY_NUMBER : answers(Number(seconds) * 1_000))
}

const DEVICE_FAILURES = { free: undefined, busy: ENDINGS.busy, offline: ENDINGS.deviceUnavailable }

/** Why a party cannot ring; undefined: it can. @param device the party's, if it is an agent */
export const failureOf = (party: Party, device: DeviceState): HowEnded | undefined =>
  party.kind === 'agent' ? DEVICE_FAILURES[device] : behaviourOf(party.address).failure

/** How an outside party answers; undefined: it does not. Agents answer by their own steps. */
export const answerOf = (party: Party): Answering | undefined =>
  party.kind === 'outside' ? behaviourOf(party.address).answer : undefined

/** A party as the other one sees it. Outside numbers of up to five digits are extensions. */
export function remotePartyOf(party: Party): RemoteParty {
  if (party.kind === 'agent') return { uri: party.agentUri, number: null, name: null, type: PartyType.agent }
  const number = numberOf(party.address)
  const type = number !== null && /^[0-9]{1,5}$/.test(number) ? PartyType.extension : PartyType.external
  const uri = number === null ? (isSipUri(party.address) ? party.address : null) : `tel:${number}`
  return { uri, number, name: party.name ?? null, type }
}
