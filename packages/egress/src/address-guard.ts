import ipaddr from 'ipaddr.js'
import { createNetworkMatcher } from './network-matcher.ts'

/** Decides which addresses and hosts webhooks may be sent to. */
export type AddressGuard = ReturnType<typeof createAddressGuard>

/**
 * Special addresses that ipaddr.js classifies as ordinary unicast. Source: IANA's special-purpose registries,
 * https://www.iana.org/assignments/iana-ipv4-special-registry and …/iana-ipv6-special-registry. Azure's address is public
 * and in none of them: https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16.
 */
const isAlsoSpecial = createNetworkMatcher([
  '168.63.129.16/32', // Azure's WireServer, which serves a virtual machine its configuration and certificates
  '192.0.0.0/24', // IETF protocol assignments
  '192.88.99.0/24', // 6to4 relay anycast, deprecated
  '100::/64', // discard-only
  '100:0:0:1::/64', // dummy prefix, RFC 9780
  '2001::/23', // IETF protocol assignments, Teredo and ORCHID among them
  '2002::/16', // 6to4: embeds a v4 address
  '3fff::/20', // documentation
  '5f00::/16', // segment routing
  'fec0::/10', // site-local, deprecated
  '::/96', // v4-compatible, deprecated
])

/**
 * Allows only ordinary public addresses: no private, loopback, link-local, shared, multicast, reserved or documentation
 * addresses, none that embeds an IPv4 address (6to4, Teredo), and no metadata service of a cloud. Mapped and NAT64 addresses
 * get the result of the IPv4 address in them, and so do ISATAP addresses with a public prefix. Decides by the numeric address, not by its spelling.
 * @param allowedNetworks CIDRs, or bare addresses, that are allowed in addition. A NAT64 prefix has no effect here: behind
 *   it are also the private networks of the translator.
 */
export function createAddressGuard(allowedNetworks: readonly string[]) {
  const isAllowed = createNetworkMatcher(allowedNetworks)

  /** Whether connecting to this address is allowed. False for text that is not an address. */
  function allows(address: string): boolean {
    if (!ipaddr.isValid(address)) return false
    const translated = translatedBy(address)
    if (translated !== undefined) return translated.length > 0 && translated.every(allows)
    // The kernel connects a mapped address to its v4 address.
    if (isAllowed(address)) return true
    const parsed = ipaddr.process(address)
    const tunnelled = tunnelledTo(parsed)
    return parsed.range() === 'unicast' && !isAlsoSpecial(address) && (tunnelled === undefined || allows(tunnelled))
  }

  return {
    allows,
    /**
     * Whether a URL may have this host, as spelt by `URL.hostname`. True for a name, because its addresses are checked when
     * they are known. Except `localhost` names, which always mean this machine (RFC 6761, section 6.3).
     */
    allowsHost(hostname: string): boolean {
      const bare = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
      if (ipaddr.isValid(bare)) return allows(bare)
      return !/(^|\.)localhost$/i.test(bare) || allows('127.0.0.1') || allows('::1')
    },
  }
}

/** RFC 5214, section 6.1: the IPv4 address to which an ISATAP router sends what is for this address. Undefined: none. */
function tunnelledTo(address: ipaddr.IPv4 | ipaddr.IPv6): string | undefined {
  if (!(address instanceof ipaddr.IPv6)) return undefined
  const [, , , , flags, mark] = address.parts
  return mark === 0x5efe && (flags === 0 || flags === 0x200) ? address.toByteArray().slice(-4).join('.') : undefined
}

const isWellKnownNat64 = createNetworkMatcher(['64:ff9b::/96'])
const isLocalNat64 = createNetworkMatcher(['64:ff9b:1::/48'])

/** RFC 6052, section 2.2: the bytes of the IPv4 address, for prefixes of 48, 56, 64 and 96 bits. */
const EMBEDDED = [
  [6, 7, 9, 10],
  [7, 9, 10, 11],
  [9, 10, 11, 12],
  [12, 13, 14, 15],
] as const

/**
 * The IPv4 addresses to which a NAT64 gateway may translate this address. Undefined: it is no NAT64 address. The local-use
 * prefix (RFC 8215) does not tell its length, so each one counts; a reading below 0.0.0.0/8 is not meant, because nothing
 * is there.
 */
function translatedBy(address: string): readonly string[] | undefined {
  const offsets = isWellKnownNat64(address) ? EMBEDDED.slice(-1) : isLocalNat64(address) ? EMBEDDED : undefined
  if (offsets === undefined) return undefined
  const bytes = ipaddr.parse(address).toByteArray()
  return offsets.filter(([first]) => bytes[first] !== 0).map((offset) => offset.map((at) => bytes[at]).join('.'))
}
