/** `*` and `#` are service codes of many PBXs. */
const NUMBER = /^\+?[0-9*#]{1,32}$/
const NUMBER_AS_WRITTEN = /^(?:tel:)?(\+?[0-9*#][0-9*#().\- ]{0,40})$/i
const SIP_URI = /^sip:([A-Za-z0-9][A-Za-z0-9._+-]{0,63})@([A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?)$/
/** Of endpoints and trunks in `pjsip.conf`. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/

export interface Trunk {
  /** Endpoint in `pjsip.conf`. */
  readonly endpoint: string
  /** Hosts that may be called by SIP URI through this trunk. Any other URI is refused. */
  readonly sipDomains: readonly string[]
}

/** The digits of a number without scheme and visual separators (RFC 3966); null for anything else. */
export function dialledNumber(address: string): string | null {
  const number = NUMBER_AS_WRITTEN.exec(address)?.[1]?.replaceAll(/[().\- ]/g, '')
  return number !== undefined && NUMBER.test(number) ? number : null
}

/**
 * What Asterisk dials for an outside address; null if the address is refused. Nothing passes that could name another
 * channel technology, a dialplan function or an option: no `/`, `&`, `,`, `@` beyond the one of a URI, no brackets.
 */
export function dialString(address: string, { endpoint, sipDomains }: Trunk): string | null {
  if (!isEndpointName(endpoint)) return null
  const number = dialledNumber(address)
  if (number !== null) return `PJSIP/${number}@${endpoint}`
  const [uri, , host] = SIP_URI.exec(address) ?? []
  const isAllowed = host !== undefined && sipDomains.includes(host.toLowerCase())
  return isAllowed ? `PJSIP/${endpoint}/${uri}` : null
}

export const isEndpointName = (name: string): boolean => NAME.test(name)
