import { createRequestLimiter, type Redis } from '@switchhook/store'
import type { Authenticate } from '../auth/open-auth.ts'
import { createNetworkMatcher } from '../auth/trusted-network.ts'
import type { ApiConfig } from '../config.ts'
import type { Passage } from '../http/server/serve-route.ts'
import { limitBadTokens } from './limit-bad-tokens.ts'
import { createLimitClient } from './limit-client.ts'

/** The limits for clients and for invalid tokens. `RATE_LIMIT=off` is for an installation whose gateway has both. */
export function openLimits(
  { RATE_LIMIT: rate, TRUSTED_NETWORKS }: Pick<ApiConfig, 'RATE_LIMIT' | 'TRUSTED_NETWORKS'>,
  redis: Redis,
  authenticate: Authenticate,
): Pick<Passage, 'authenticate' | 'limitClient'> {
  const isTrustedAddress = createNetworkMatcher(TRUSTED_NETWORKS)
  return {
    authenticate: rate === null ? authenticate : limitBadTokens(authenticate, isTrustedAddress),
    limitClient: createLimitClient({ rate, limiter: (of) => createRequestLimiter(redis, of), isTrustedAddress }),
  }
}
