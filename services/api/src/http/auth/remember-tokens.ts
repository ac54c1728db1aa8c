import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Caller } from '../route.ts'

export const tokenNameOf = (authorization: string): string => hash('sha256', authorization, 'base64')

export interface VerifiedToken {
  readonly caller: Caller
  readonly expiresAtMs: number
  /** Whether the issuer still has the keys that the token was verified with. Rejects like a verification. */
  readonly hasCurrentKeys: () => Promise<boolean>
}

/** Of about 200 bytes each. Beyond it, the token that was unused for longest is verified again. */
const MAX_TOKENS = 10_000

/**
 * Verifies a token once for its lifetime: a signature costs 100 µs, this lookup 3. The token's `exp` and any change of the
 * issuer's keys end that; then the token is verified in full. Rejected tokens are not remembered. Tokens are kept only as
 * hashes, so that a memory dump shows none.
 */
export function rememberTokens(
  verify: (authorization: string) => Promise<VerifiedToken>,
  now: () => number = () => Date.now(),
): (authorization: string, tokenName?: string) => Promise<Caller> {
  const known = new LRUCache<string, VerifiedToken>({ max: MAX_TOKENS })
  return async (authorization, name = tokenNameOf(authorization)) => {
    const found = known.get(name)
    if (found !== undefined && now() < found.expiresAtMs && (await found.hasCurrentKeys())) return found.caller
    known.delete(name)
    const verified = await verify(authorization)
    known.set(name, verified)
    return verified.caller
  }
}
