import { PartyType, type RemoteParty } from '@switchhook/contracts'
import type { Ending } from '../platform.ts'
import { ENDINGS } from './end-reasons.ts'

/** What an outside party does that is called. Times count from the moment when it begins to ring, or would. */
export type Behaviour =
  | {
      readonly kind: 'answers'
      readonly afterMs: number
      /** When it hangs up, counted from its answer. */
      readonly talkMs: number
      readonly refusesHold?: true
      /** It puts us on hold so long after its answer, for so long. */
      readonly holds?: { readonly afterMs: number; readonly forMs: number }
    }
  | { readonly kind: 'rings-out' }
  | { readonly kind: 'fails'; readonly ending: Omit<Ending, 'endedBy'> }

/** A customer who is forgotten on the line hangs up by herself. */
export const LONGEST_TALK_MS = 10 * 60_000

const answers = (afterMs: number, more: Partial<Extract<Behaviour, { kind: 'answers' }>> = {}): Behaviour => ({
  kind: 'answers',
  afterMs,
  talkMs: LONGEST_TALK_MS,
  ...more,
})

/** Fixed behaviours, for people who build against the API. */
const FIXED: Readonly<Record<string, Behaviour>> = {
  '+15550100': answers(1_000),
  '+15550101': { kind: 'fails', ending: ENDINGS.busy },
  '+15550102': { kind: 'rings-out' },
  '+15550103': { kind: 'fails', ending: ENDINGS.badAddress },
  '+15550104': answers(1_000, { refusesHold: true }),
  '+15550105': answers(1_000, { talkMs: 5_000 }),
  '+15550106': answers(1_000, { holds: { afterMs: 2_000, forMs: 3_000 } }),
}

/** `+1555011n` answers after n seconds. */
const AFTER_SECONDS = /^\+1555011([0-9])$/

const ANY_NUMBER = answers(2_500)
const NO_SUCH_ADDRESS: Behaviour = { kind: 'fails', ending: ENDINGS.badAddress }

/** An extension or an E.164 number, with or without the `tel:` scheme (RFC 3966) and visual separators. */
const NUMBER = /^(?:tel:)?(\+?[0-9][0-9().\- ]{0,30})$/i

/** The digits of a number, with a leading plus if it has one; null for anything else. */
function numberOf(destination: string): string | null {
  const [, number] = NUMBER.exec(destination) ?? []
  return number?.replaceAll(/[().\- ]/g, '') ?? null
}

/** What an outside party does. Agents are rung, not looked up here. */
export function behaviourOf(address: string): Behaviour {
  const number = numberOf(address)
  if (number === null) return NO_SUCH_ADDRESS
  const seconds = AFTER_SECONDS.exec(number)?.[1]
  return FIXED[number] ?? (seconds === undefined ? ANY_NUMBER : answers(Number(seconds) * 1_000))
}

/** Numbers of up to five digits are extensions of the house. */
export function outsideParty(address: string): RemoteParty {
  const number = numberOf(address)
  const type = number !== null && /^[0-9]{1,5}$/.test(number) ? PartyType.extension : PartyType.external
  return { uri: number === null ? address : `tel:${number}`, number, name: null, type }
}
