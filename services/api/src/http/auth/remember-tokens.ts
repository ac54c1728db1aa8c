import { hash } from 'node:crypto'
import type { Request } from 'express'
import { LRUCache } from 'lru-cache'
import type { BadTokenLimit } from '../limits/limit-bad-tokens.ts'
import type { Caller } from '../route.ts'
import { Unauthorized, type VerifiedToken } from './verify-token.ts'

/** Of about 200 bytes each. Beyond it, the token that was unused for longest is verified again. */
const MAX_TOKENS = 10_000

/**
 * Verifies a token once for its lifetime: a signature costs 100 µs, this lookup 3. The token's `exp` and any change of the
 * issuer's keys end that; then the token is verified in full, whatever the limit says. Rejected tokens are not remembered.
 * Tokens are kept only as hashes, so that a memory dump shows none.
 * @param limit of tokens that were not accepted before; absent: none
 * @returns a function that throws as `verify`, and `rate-limited`
 */
export function rememberTokens(
  verify: (request: Request) => Promise<VerifiedToken>,
  limit?: BadTokenLimit,
  now: () => number = () => Date.now(),
): (request: Request, address?: string) => Promise<Caller> {
  const known = new LRUCache<string, VerifiedToken>({ max: MAX_TOKENS })
  return async (request, address) => {
    const name = hash('sha256', request.headers.authorization ?? '', 'base64')
    const found = known.get(name)
    const expiresAtMs = found?.caller.expiresAtMs ?? 0
    if (found !== undefined && now() < expiresAtMs && found.hasCurrentKeys()) return found.caller
    if (found === undefined) await limit?.check(address, name)
    try {
      const verified = await verify(request)
      known.set(name, verified)
      return verified.caller
    } catch (error) {
      if (error instanceof Unauthorized) {
        known.delete(name)
        await limit?.count(address, name)
      }
      throw error
    }
  }
}
