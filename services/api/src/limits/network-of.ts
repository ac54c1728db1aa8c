import ipaddr from 'ipaddr.js'

/** One subscriber of a provider has so many bits of an IPv6 address to himself (RFC 6177). */
const IPV6_PREFIX = 64

/** The name under which an address is counted: an IPv4 address itself, however it is written, or an IPv6 network. */
export function networkOf(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown'
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/${IPV6_PREFIX}`).toString()}/${IPV6_PREFIX}`
}
