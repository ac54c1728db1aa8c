import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { Authenticate } from '../auth/open-auth.ts'
import { tokenNameOf } from '../auth/remember-tokens.ts'
import { Unauthorized } from '../auth/verify-token.ts'
import { HeaderedError } from '../headered-error.ts'

/**
 * How many invalid tokens are verified in a window of `duration` seconds. Per token: the requests that an honest client has
 * in flight when its token expires are answered 401, so that it fetches a new token. A client that repeats its token for
 * longer is limited, and does not use up the limit of its address. Per address: the window is one second, so that other
 * clients of a flooding address (all clients, if TRUST_PROXY does not name a proxy) still get tokens verified. Short
 * windows also bound the memory, because each bad token has its own count.
 */
const BAD_TOKEN_LIMITS = {
  perToken: { points: 100, duration: 10 },
  perAddress: { points: 200, duration: 1 },
}

/** Accepted tokens that are remembered, as hashes of 32 bytes. */
const KNOWN_TOKENS = 10_000

/**
 * Stops verifying the tokens of an address that keeps sending invalid ones. Counts in this process, without Redis. A token
 * that was accepted before is always verified. A repeated invalid token uses up its own limit and little of the limit of its
 * address, so a faulty client does not block the other clients of the address.
 * @throws HeaderedError `rate-limited`, and the errors of `authenticate`
 */
export function limitBadTokens(
  authenticate: Authenticate,
  isTrustedAddress: (address: string | undefined) => boolean,
  { perToken, perAddress } = BAD_TOKEN_LIMITS,
): Authenticate {
  const ofToken = new RateLimiterMemory({ ...perToken, keyPrefix: '' })
  const ofAddress = new RateLimiterMemory({ ...perAddress, keyPrefix: '' })
  const known = new LRUCache<string, true>({ max: KNOWN_TOKENS })

  /** Time until every used-up limit is reset; 0: none is used up. */
  async function waitMs([token, address]: Names): Promise<number> {
    const counts = await Promise.all([ofToken.get(token), ofAddress.get(address)])
    return Math.max(
      0,
      ...counts.map((count) => (count !== null && count.remainingPoints === 0 ? count.msBeforeNext : 0)),
    )
  }

  return async (request) => {
    const { authorization } = request.headers
    // Without a token there is nothing to verify; a 401 costs as little as a 429.
    if (authorization === undefined || isTrustedAddress(request.ip)) return authenticate(request)
    const token = tokenNameOf(authorization)
    const leftMs = known.has(token) ? 0 : await waitMs(namesOf(request.ip, token))
    if (leftMs > 0) {
      const detail = 'Too many invalid tokens from this address.'
      throw new HeaderedError('rate-limited', { 'Retry-After': String(Math.ceil(leftMs / 1_000)) }, { detail })
    }
    try {
      const caller = await authenticate({ ...request, tokenName: token })
      known.set(token, true)
      return caller
    } catch (error) {
      if (error instanceof Unauthorized) {
        known.delete(token)
        const [tokenName, address] = namesOf(request.ip, token)
        await Promise.all([ofToken.penalty(tokenName), ofAddress.penalty(address)])
      }
      throw error
    }
  }
}

type Names = readonly [token: string, address: string]

function namesOf(ip: string | undefined, token: string): Names {
  const address = networkOf(ip)
  return [`${address} ${token}`, address]
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
