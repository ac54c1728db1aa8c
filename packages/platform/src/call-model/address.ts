/** Blanks and no-break spaces, dots, slashes, and every kind of hyphen that people and web pages write. */
const SEPARATORS = /[\s.\-/\u2010-\u2015\u2212]/g
const BRACKETS = /[()]/g
/** Soft hyphens and marks of the writing direction. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g
/**
 * E.123: the national prefix, in brackets after the country code, is not dialled from abroad. Italy (39) and San Marino (378)
 * have none: they dial the zero.
 */
const NATIONAL_PREFIX = /^(\(?(?:\+|00)\(?(?!39|378)[0-9]{1,3}\)?)\(0\)/
/** Another zero in brackets: whether it is dialled depends on the country. */
const AMBIGUOUS_PREFIX = /^\(?(?:\+|00)\(?[0-9]{1,3}\)?\(0|[0-9]\)?\(0\)/
const SCHEME = /^tel:/i
/** A number that is valid in one context, or has an extension (RFC 3966). It cannot be dialled. */
const TEL_URI = /^tel:([^;]*)(;.*)$/i
/** `*` and `#` are service codes of many PBXs. */
const NUMBER = /^\+?[0-9*#]{1,32}$/
/** With an optional port, parameters and headers (RFC 3261). */
const SIP_URI = /^(sips?):(?:([^@]*)@)?([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(;[^?]*)?(\?.*)?$/i

/**
 * The digits of a number, with its leading plus if it has one; null for any other address. Takes an extension, an E.164 number
 * as people write it, and the URI of either (RFC 3966).
 */
export function numberOf(address: string): string | null {
  const written = address.replaceAll(INVISIBLE, '').trim().replace(SCHEME, '').replaceAll(SEPARATORS, '')
  const dialled = written.replace(NATIONAL_PREFIX, '$1')
  if (AMBIGUOUS_PREFIX.test(dialled)) return null
  const number = dialled.replaceAll(BRACKETS, '')
  return NUMBER.test(number) ? number : null
}

/** The address of a party whose number is withheld, and the `cli` that withholds the agent's (RFC 3323). */
export const WITHHELD = 'anonymous'

/** The number that a called party is to see, or `WITHHELD`; null for any other text. */
export const presentationOf = (cli: string): string | null =>
  cli.trim().toLowerCase() === WITHHELD ? WITHHELD : numberOf(cli)

export const isSipUri = (address: string): boolean => SIP_URI.test(address.trim())

export const isDiallable = (address: string): boolean => numberOf(address) !== null || isSipUri(address)

/** Whether RFC 3261 and RFC 3966 call two addresses equal, as far as an agent or a destination needs it. */
export const isSameAddress = (one: string, other: string): boolean => canonicalAddress(one) === canonicalAddress(other)

/**
 * The same text for all spellings of an address: the digits of a number, and a URI with its scheme, host and parameters in
 * small letters, the parameters sorted. The user of a SIP URI keeps its letters (RFC 3261, 19.1.4).
 */
export function canonicalAddress(address: string): string {
  const number = numberOf(address)
  if (number !== null) return number
  const [, local = '', context] = TEL_URI.exec(address.trim()) ?? []
  if (context !== undefined) return `tel:${numberOf(local) ?? local}${sorted(context)}`
  const [all, scheme = '', user, host = '', port = '', parameters = '', headers = ''] =
    SIP_URI.exec(address.trim()) ?? []
  if (all === undefined) return address.trim()
  const named = user === undefined ? '' : `${unescaped(user)}@`
  return `${scheme.toLowerCase()}:${named}${host.toLowerCase()}${port}${sorted(parameters)}${headers}`
}

const sorted = (parameters: string): string => parameters.toLowerCase().split(';').toSorted().join(';')

/** An escaped character equals the character itself, unless it is reserved. */
const unescaped = (user: string): string =>
  user.replace(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCodePoint(Number.parseInt(escape.slice(1), 16))
    return /[\w\-.!~*'()]/.test(character) ? character : escape.toUpperCase()
  })
