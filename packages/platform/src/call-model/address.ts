/** Blanks and no-break spaces, dots, brackets, slashes, and every kind of hyphen that people and web pages write. */
const SEPARATORS = /[\s().\-/\u2010-\u2015\u2212]/g
/** Soft hyphens and marks of the writing direction. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g
/** E.123: the national prefix, in brackets after the country code, is not dialled from abroad. */
const NATIONAL_PREFIX = /^(\+[0-9]{1,3}\s*)\(\s*0\s*\)/
/** A bracket that holds more than the prefix: whether its zero is dialled depends on the country. */
const AMBIGUOUS_PREFIX = /^\+[0-9]{1,3}\s*\(\s*0/
const SCHEME = /^tel:/i
/** `*` and `#` are service codes of many PBXs. */
const NUMBER = /^\+?[0-9*#]{1,32}$/
/** With an optional port, parameters and headers (RFC 3261). */
const SIP_URI = /^(sips?):(?:([^@]*)@)?([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(;[^?]*)?(\?.*)?$/i

/**
 * The digits of a number, with its leading plus if it has one; null for any other address. Takes an extension, an E.164 number
 * as people write it, and the URI of either (RFC 3966).
 */
export function numberOf(address: string): string | null {
  const written = address.replaceAll(INVISIBLE, '').trim().replace(SCHEME, '').replace(NATIONAL_PREFIX, '$1')
  if (AMBIGUOUS_PREFIX.test(written)) return null
  const number = written.replaceAll(SEPARATORS, '')
  return NUMBER.test(number) ? number : null
}

/** The address of a party whose number is withheld, and the `cli` that withholds the agent's (RFC 3323). */
export const WITHHELD = 'anonymous'

/** The number that a called party is to see, or `WITHHELD`; null for any other text. */
export const presentationOf = (cli: string): string | null =>
  cli.trim().toLowerCase() === WITHHELD ? WITHHELD : numberOf(cli)

export const isSipUri = (address: string): boolean => SIP_URI.test(address.trim())

/** Whether the address can be dialled: a number, or a SIP URI. */
export const isDiallable = (address: string): boolean => numberOf(address) !== null || isSipUri(address)

/** Whether RFC 3261 and RFC 3966 call two addresses equal, as far as an agent or a destination needs it. */
export const isSameAddress = (one: string, other: string): boolean => canonicalAddress(one) === canonicalAddress(other)

/**
 * The same text for all spellings of an address: the digits of a number, and a SIP URI with its scheme, host and parameters in
 * small letters. The user of a SIP URI keeps its letters (RFC 3261, 19.1.4).
 */
export function canonicalAddress(address: string): string {
  const number = numberOf(address)
  if (number !== null) return number
  const [all, scheme = '', user, host = '', port = '', parameters = '', headers = ''] =
    SIP_URI.exec(address.trim()) ?? []
  if (all === undefined) return address.trim()
  const named = user === undefined ? '' : `${unescaped(user)}@`
  return `${scheme.toLowerCase()}:${named}${host.toLowerCase()}${port}${parameters.toLowerCase()}${headers}`
}

/** An escaped character equals the character itself. */
function unescaped(user: string): string {
  try {
    return decodeURIComponent(user)
  } catch {
    return user
  }
}
