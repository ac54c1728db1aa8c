import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { Authenticate } from '../auth/authenticate.ts'
import { Unauthorized } from '../auth/unauthorized.ts'
import { HeaderedError } from '../http/problem-handler.ts'
import { networkOf } from './network-of.ts'

/** How often tokens that do not count are looked at. */
interface BadTokenLimits {
  /** One and the same token of one address. */
  readonly perToken: Quota
  /** Whatever tokens of one address. */
  readonly perAddress: Quota
}

interface Quota {
  readonly points: number
  /** In s. */
  readonly duration: number
}

/**
 * What an honest client has in flight when its token expires is answered 401, so that it fetches a new one; a loop goes on
 * for longer, and alone uses up no address. An address is judged by the second: whoever shares it with a flood (or all
 * clients, where a proxy is not named in TRUST_PROXY) gets a token looked at in between. Short windows also bound the
 * memory, as each bad token is counted by itself.
 */
const BAD_TOKEN_LIMITS: BadTokenLimits = {
  perToken: { points: 100, duration: 10 },
  perAddress: { points: 200, duration: 1 },
}

/** Of 32 bytes each. */
const KNOWN_TOKENS = 10_000

/**
 * Stops looking at tokens of an address that keeps showing bad ones, within this process, at no cost to Redis. A token that
 * has been accepted here before is always looked at; a bad one that is shown again and again uses up what that token has,
 * and little of what the address has. So who shares an address with a faulty client is not refused for it.
 * @throws HeaderedError `rate-limited`, beside what `authenticate` throws
 */
export function limitBadTokens(
  authenticate: Authenticate,
  isTrustedAddress: (address: string | undefined) => boolean,
  { perToken, perAddress }: BadTokenLimits = BAD_TOKEN_LIMITS,
): Authenticate {
  const ofToken = new RateLimiterMemory({ ...perToken, keyPrefix: '' })
  const ofAddress = new RateLimiterMemory({ ...perAddress, keyPrefix: '' })
  const known = new LRUCache<string, true>({ max: KNOWN_TOKENS })

  /** Until the first of the counts that are used up begins anew; 0: none is. */
  async function waitMs(names: Names): Promise<number> {
    const counts = await Promise.all([ofToken.get(names.token), ofAddress.get(names.address)])
    return Math.max(
      0,
      ...counts.map((count) => (count !== null && count.remainingPoints === 0 ? count.msBeforeNext : 0)),
    )
  }

  return async (request) => {
    const { authorization } = request.headers
    // Without a token there is nothing to look at, and 401 costs what 429 would.
    if (authorization === undefined || isTrustedAddress(request.ip)) return authenticate(request)
    const token = createHash('sha256').update(authorization).digest('base64')
    const address = networkOf(request.ip)
    const names: Names = { token: `${address} ${token}`, address }
    const leftMs = known.has(token) ? 0 : await waitMs(names)
    if (leftMs > 0) {
      const detail = 'Too many tokens that do not count came from this address'
      throw new HeaderedError('rate-limited', { 'Retry-After': String(Math.ceil(leftMs / 1_000)) }, { detail })
    }
    try {
      const caller = await authenticate(request)
      known.set(token, true)
      return caller
    } catch (error) {
      if (error instanceof Unauthorized) {
        known.delete(token)
        await Promise.all([ofToken.penalty(names.token), ofAddress.penalty(names.address)])
      }
      throw error
    }
  }
}

interface Names {
  readonly token: string
  readonly address: string
}
