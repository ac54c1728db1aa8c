import ipaddr from 'ipaddr.js'

/** Decides where webhooks may go. */
export interface AddressGuard {
  /** May this address be connected to? Anything that is no address may not. */
  allows(address: string): boolean
  /**
   * May this host of a url, as `URL.hostname` spells it, be asked for at all? A name may: what it resolves to is judged
   * when it is known. Except those that mean this machine, wherever they are asked for (RFC 6761, section 6.3).
   */
  allowsHost(hostname: string): boolean
}

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]

/**
 * Special addresses that the library counts as ordinary unicast. IANA's special-purpose registries,
 * https://www.iana.org/assignments/iana-ipv4-special-registry and …/iana-ipv6-special-registry.
 */
const ALSO_SPECIAL: readonly Range[] = [
  '192.0.0.0/24', // IETF protocol assignments
  '192.88.99.0/24', // 6to4 relay anycast, deprecated
  '64:ff9b:1::/48', // IPv4/IPv6 translation of one's own
  '100::/64', // discard-only
  '2001::/23', // IETF protocol assignments, Teredo and ORCHID among them
  '2002::/16', // 6to4: a v4 address in disguise
  '3fff::/20', // documentation
  '5f00::/16', // segment routing
  'fec0::/10', // site-local, deprecated
  '::/96', // v4-compatible, deprecated
].map((cidr) => ipaddr.parseCIDR(cidr))

/**
 * Only ordinary public addresses may be connected to: no private, loopback, link-local, shared, multicast, reserved or
 * documentation ones, nor any that hides an IPv4 address (mapped, NAT64, 6to4, Teredo). An address that only looks
 * public by its spelling is none: what counts is the number that it stands for.
 * @param allowedNetworks CIDRs, or bare addresses, that may be connected to all the same
 */
export function createAddressGuard(allowedNetworks: readonly string[]): AddressGuard {
  const allowed = allowedNetworks.map(parseNetwork)

  function allows(address: string): boolean {
    if (!ipaddr.isValid(address)) return false
    // A mapped address is the v4 address that it maps, to the kernel as well.
    const parsed = ipaddr.process(address)
    if (allowed.some((range) => isIn(parsed, range))) return true
    return parsed.range() === 'unicast' && !ALSO_SPECIAL.some((range) => isIn(parsed, range))
  }

  return {
    allows,
    allowsHost(hostname) {
      const bare = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
      if (ipaddr.isValid(bare)) return allows(bare)
      return !/(^|\.)localhost$/i.test(bare) || allows('127.0.0.1') || allows('::1')
    },
  }
}

function parseNetwork(network: string): Range {
  if (network.includes('/')) return ipaddr.parseCIDR(network)
  const address = ipaddr.process(network)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

const isIn = (address: ipaddr.IPv4 | ipaddr.IPv6, [network, bits]: Range): boolean =>
  address.kind() === network.kind() && address.match(network, bits)
