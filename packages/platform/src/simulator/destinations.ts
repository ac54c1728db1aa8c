import { EndReason } from '@switchhook/contracts'

/** What a dialled party does. Times count from the moment when it begins to ring, or would. */
export type Behaviour =
  | { readonly kind: 'answers'; readonly afterMs: number }
  | { readonly kind: 'rings-out' }
  | { readonly kind: 'fails'; readonly endReason: EndReason; readonly cause: number; readonly sipCode: number }

/** Fixed behaviours, for people who build against the API. */
const FIXED: Readonly<Record<string, Behaviour>> = {
  '+15550100': { kind: 'answers', afterMs: 1_000 },
  '+15550101': { kind: 'fails', endReason: EndReason.busy, cause: 17, sipCode: 486 },
  '+15550102': { kind: 'rings-out' },
  '+15550103': { kind: 'fails', endReason: EndReason.badAddress, cause: 1, sipCode: 404 },
}

const ANY_NUMBER: Behaviour = { kind: 'answers', afterMs: 2_500 }
const NO_SUCH_ADDRESS: Behaviour = { kind: 'fails', endReason: EndReason.badAddress, cause: 1, sipCode: 404 }

/** An extension or an E.164 number, with or without the `tel:` scheme (RFC 3966) and visual separators. */
const NUMBER = /^(?:tel:)?(\+?[0-9][0-9().\- ]{1,30})$/i

/** The digits of a number, with a leading plus if it has one; null for anything else. */
export function numberOf(destination: string): string | null {
  const [, number] = NUMBER.exec(destination) ?? []
  return number?.replaceAll(/[().\- ]/g, '') ?? null
}

/** What an outside party does. Other agents are rung, not looked up here. */
export function behaviourOf(destination: string): Behaviour {
  const number = numberOf(destination)
  if (number === null) return NO_SUCH_ADDRESS
  return FIXED[number] ?? ANY_NUMBER
}
