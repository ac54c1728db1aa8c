import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * Returns whether an address is in one of the networks: CIDRs, or bare addresses. False for text that is not an address.
 * An IPv4-mapped IPv6 address counts as IPv4 (RFC 4291, 2.5.5.2).
 */
export function createNetworkMatcher(cidrs: readonly string[]): (address: string | undefined) => boolean {
  const networks = cidrs.map(parseNetwork)
  return (address) => {
    // Most installations trust no network, and parsing an address costs 5 µs.
    if (networks.length === 0 || address === undefined || !ipaddr.isValid(address)) return false
    const candidate = ipaddr.process(address)
    return networks.some(([network, prefix]) => network.kind() === candidate.kind() && candidate.match(network, prefix))
  }
}

function parseNetwork(cidr: string): [Address, number] {
  const whole = cidr.includes(':') ? 128 : 32
  const [network, prefix] = ipaddr.parseCIDR(cidr.includes('/') ? cidr : `${cidr}/${whole}`)
  const isMapped = network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && prefix >= 96
  return isMapped ? [network.toIPv4Address(), prefix - 96] : [network, prefix]
}
