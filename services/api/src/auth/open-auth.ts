import type { Logger } from '@switchhook/runtime'
import type { Caller } from '../http/route.ts'
import { fetchKeys } from './fetch-keys.ts'
import type { Issuer } from './issuer.ts'
import { startKeyCache } from './key-cache.ts'
import { EVERY_ROLE } from './role.ts'
import { createNetworkMatcher } from './trusted-network.ts'
import { createVerifyToken, Unauthorized } from './verify-token.ts'

/** The part of a request that authentication reads. */
interface Credentials {
  readonly headers: { readonly authorization?: string | undefined }
  /** The address of the socket, or the address that a trusted proxy reports. */
  readonly ip?: string | undefined
}

/** @throws Unauthorized, or AppError `service-unavailable` */
export type Authenticate = (request: Credentials) => Promise<Caller>

export interface AuthOptions {
  readonly issuers: readonly Issuer[]
  readonly trustedNetworks: readonly string[]
  /** Tenant of requests without a token; null: the installation itself. */
  readonly trustedNetworkTenant: string | null
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly keyTiming?: KeyTiming
}

/** In ms. */
export interface KeyTiming {
  /** The longest time that a withdrawn key is still trusted. */
  readonly refreshMs: number
  /** Minimum time between two fetches caused by unknown key ids. */
  readonly cooldownMs: number
  readonly timeoutMs: number
}

const KEY_TIMING: KeyTiming = { refreshMs: 10 * 60_000, cooldownMs: 5_000, timeoutMs: 3_000 }

/**
 * Opens authentication. A request with a token is authenticated by the token, wherever it comes from. A request without a
 * token is accepted only from a trusted network. Starts to fetch the issuers' keys, and does not wait for them.
 */
export function openAuth(options: AuthOptions): { readonly authenticate: Authenticate; readonly close: () => void } {
  const { timeoutMs, ...timing } = options.keyTiming ?? KEY_TIMING
  const caches = options.issuers.map((issuer) => {
    const log = withIssuer(options.log, issuer)
    return { issuer, cache: startKeyCache({ fetchKeys: () => fetchKeys(issuer, timeoutMs), ...timing, log }) }
  })
  const verifyToken = createVerifyToken(
    caches.map(({ issuer, cache }) => ({ ...issuer, keysFor: (kid: string | undefined) => cache.keysFor(kid) })),
  )
  const isTrustedAddress = createNetworkMatcher(options.trustedNetworks)
  return {
    authenticate: async ({ headers, ip }) => {
      if (headers.authorization !== undefined) return verifyToken(headers.authorization)
      if (!isTrustedAddress(ip)) throw new Unauthorized()
      return { tenant: options.trustedNetworkTenant, clientId: 'trusted-network', role: EVERY_ROLE }
    },
    close: () => {
      for (const { cache } of caches) cache.close()
    },
  }
}

function withIssuer(log: AuthOptions['log'], { issuer }: Issuer): AuthOptions['log'] {
  return {
    info: (message, fields) => log.info(message, { ...fields, issuer }),
    warn: (message, fields) => log.warn(message, { ...fields, issuer }),
  }
}
