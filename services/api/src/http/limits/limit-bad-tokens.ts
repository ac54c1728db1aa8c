import ipaddr from 'ipaddr.js'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { retryAfter } from '../headered-error.ts'

/**
 * How many invalid tokens are verified in `duration` seconds. Per token: an honest client has requests in flight when its
 * token expires, and fetches a new one after their 401; one that repeats its token for longer is limited. Per address: the
 * window is one second, so that other clients of a flooding address (all clients, if TRUST_PROXY names no proxy) still get
 * tokens verified. Short windows bound the memory, because each bad token has a count of its own.
 */
const BAD_TOKEN_LIMITS = { perToken: { points: 100, duration: 10 }, perAddress: { points: 200, duration: 1 } }

export type BadTokenLimit = ReturnType<typeof createBadTokenLimit>

/**
 * Limits the verification of invalid tokens. Counts in this process, without Redis. A repeated token uses up its own limit
 * and little of that of its address, so a faulty client does not block the others there. A trusted address has no limit.
 */
export function createBadTokenLimit(
  isTrustedAddress: (address: string | undefined) => boolean,
  { perToken, perAddress } = BAD_TOKEN_LIMITS,
) {
  const ofToken = new RateLimiterMemory({ ...perToken, keyPrefix: '' })
  const ofAddress = new RateLimiterMemory({ ...perAddress, keyPrefix: '' })
  return {
    /** @throws HeaderedError `rate-limited` */
    async check(ip: string | undefined, token: string): Promise<void> {
      if (isTrustedAddress(ip)) return
      const address = networkOf(ip)
      const counts = await Promise.all([ofToken.get(`${address} ${token}`), ofAddress.get(address)])
      const leftMs = Math.max(...counts.map((count) => (count?.remainingPoints === 0 ? count.msBeforeNext : 0)))
      if (leftMs <= 0) return
      throw retryAfter('rate-limited', Math.ceil(leftMs / 1_000), 'Too many invalid tokens from this address.')
    },
    /** The token was verified, and is invalid. */
    async count(ip: string | undefined, token: string): Promise<void> {
      if (isTrustedAddress(ip)) return
      const address = networkOf(ip)
      await Promise.all([ofToken.penalty(`${address} ${token}`), ofAddress.penalty(address)])
    },
  }
}

/** Providers assign at least a /64 to one subscriber (RFC 6177). */
const IPV6_PREFIX = 64

/** The name under which an address is counted: the IPv4 address in its usual spelling, or the IPv6 network. */
export function networkOf(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown'
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/${IPV6_PREFIX}`).toString()}/${IPV6_PREFIX}`
}
