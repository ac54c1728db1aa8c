import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Caller } from '../route.ts'

/** The hash under which a token is remembered. */
export const tokenNameOf = (authorization: string): string => hash('sha256', authorization, 'base64')

/** A token that was verified. */
export interface Verdict {
  readonly caller: Caller
  /** The token's `exp`, ms since 1970. */
  readonly expiresAtMs: number
  /** Whether the issuer still has the keys that the token was verified with. Rejects like a verification. */
  readonly hasCurrentKeys: () => Promise<boolean>
}

/** Of about 200 bytes each. Beyond it, the token that was unused for longest is verified again. */
const MAX_VERDICTS = 10_000

/**
 * Verifies a token once for its lifetime: a signature costs 100 µs, this lookup 3. A verdict ends with the token's `exp`
 * and with any change of the issuer's keys; then the token is verified in full. Rejected tokens are not remembered. Tokens
 * are kept only as hashes, so that a memory dump shows none.
 */
export function rememberVerdicts(
  verify: (authorization: string) => Promise<Verdict>,
  now: () => number = () => Date.now(),
): (authorization: string, tokenName?: string) => Promise<Caller> {
  const verdicts = new LRUCache<string, Verdict>({ max: MAX_VERDICTS })
  return async (authorization, name = tokenNameOf(authorization)) => {
    const known = verdicts.get(name)
    if (known !== undefined && now() < known.expiresAtMs && (await known.hasCurrentKeys())) return known.caller
    verdicts.delete(name)
    const verdict = await verify(authorization)
    verdicts.set(name, verdict)
    return verdict.caller
  }
}
