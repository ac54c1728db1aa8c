import type { Logger } from '@switchhook/runtime'
import { type Authenticate, createAuthenticate } from './authenticate.ts'
import { fetchKeys } from './fetch-keys.ts'
import type { Issuer } from './issuer.ts'
import { startKeyCache } from './key-cache.ts'
import { createNetworkMatcher } from './trusted-network.ts'
import { createVerifyToken } from './verify-token.ts'

export interface AuthOptions {
  readonly issuers: readonly Issuer[]
  readonly trustedNetworks: readonly string[]
  readonly trustedNetworkTenant: string | null
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly keyTiming?: KeyTiming
}

/** In ms. */
export interface KeyTiming {
  /** How long a withdrawn key may still be trusted. */
  readonly refreshMs: number
  /** Least time between two questions to a provider that unknown key ids cause. */
  readonly cooldownMs: number
  readonly timeoutMs: number
}

const KEY_TIMING: KeyTiming = { refreshMs: 10 * 60_000, cooldownMs: 5_000, timeoutMs: 3_000 }

/** Everything that decides who a caller is. Begins to fetch the issuers' keys, and waits for none of them. */
export function openAuth(options: AuthOptions): { readonly authenticate: Authenticate; readonly close: () => void } {
  const { timeoutMs, ...timing } = options.keyTiming ?? KEY_TIMING
  const caches = options.issuers.map((issuer) => {
    const log = naming(options.log, issuer)
    return { issuer, cache: startKeyCache({ fetchKeys: () => fetchKeys(issuer, timeoutMs), ...timing, log }) }
  })
  const verifyToken = createVerifyToken(
    caches.map(({ issuer, cache }) => ({ ...issuer, keysFor: (kid: string | undefined) => cache.keysFor(kid) })),
  )
  return {
    authenticate: createAuthenticate({
      verifyToken,
      isTrustedAddress: createNetworkMatcher(options.trustedNetworks),
      trustedNetworkTenant: options.trustedNetworkTenant,
    }),
    close: () => {
      for (const { cache } of caches) cache.close()
    },
  }
}

function naming(log: AuthOptions['log'], { issuer }: Issuer): AuthOptions['log'] {
  return {
    info: (message, fields) => log.info(message, { ...fields, issuer }),
    warn: (message, fields) => log.warn(message, { ...fields, issuer }),
  }
}
