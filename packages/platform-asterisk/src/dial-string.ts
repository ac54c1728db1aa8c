import { canonicalAddress, numberOf } from '@switchhook/platform'

const SIP_URI = /^sip:([A-Za-z0-9][A-Za-z0-9._+-]{0,63})@([A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?)$/
/** Of endpoints and trunks in `pjsip.conf`. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/

export interface Trunk {
  /** Endpoint in `pjsip.conf`. */
  readonly endpoint: string
  /** Hosts that may be called by SIP URI through this trunk. Any other URI is refused. */
  readonly sipDomains: readonly string[]
}

/**
 * What Asterisk dials for an outside address; null if the address is refused. Nothing passes that could name another
 * channel technology, a dialplan function or an option: no `/`, `&`, `,`, `@` beyond the one of a URI, no brackets.
 */
export function dialString(address: string, { endpoint, sipDomains }: Trunk): string | null {
  if (!isEndpointName(endpoint)) return null
  const number = numberOf(address)
  if (number !== null) return `PJSIP/${number}@${endpoint}`
  const [uri, , host] = SIP_URI.exec(canonicalAddress(address)) ?? []
  const isAllowed = host !== undefined && sipDomains.includes(host)
  return isAllowed ? `PJSIP/${endpoint}/${uri}` : null
}

export const isEndpointName = (name: string): boolean => NAME.test(name)
