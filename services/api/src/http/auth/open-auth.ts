import type { Tenant } from '@switchhook/contracts'
import { createNetworkMatcher } from '@switchhook/egress'
import type { Logger } from '@switchhook/runtime'
import { createBadTokenLimit } from '../limits/limit-bad-tokens.ts'
import { EVERY_ROLE } from '../role.ts'
import type { Caller } from '../route.ts'
import { fetchKeys } from './fetch-keys.ts'
import type { Issuer } from './issuer.ts'
import { type KeyTiming, startKeyCache } from './key-cache.ts'
import { createOwnSiteCheck, type SiteRequest } from './own-site.ts'
import { rememberTokens } from './remember-tokens.ts'
import { createVerifyToken, Unauthorized } from './verify-token.ts'

interface Credentials extends SiteRequest {
  /** The address of the socket, or the address that a trusted proxy reports. */
  readonly ip?: string | undefined
}

/** @throws Unauthorized, or AppError `rate-limited`, `service-unavailable`, `host-not-allowed` or `cross-site-request` */
export type Authenticate = (request: Credentials) => Promise<Caller>

type AuthLog = Pick<Logger, 'info' | 'warn'>

const KEY_TIMING: KeyTiming = { refreshMs: 10 * 60_000, cooldownMs: 5_000, timeoutMs: 3_000 }

/**
 * A request with a token is authenticated by it, wherever it comes from; one without only from a trusted network, and not
 * from a page of another site. With `RATE_LIMIT=off`, the installation's gateway limits invalid tokens as well.
 */
export function openAuth(
  config: {
    readonly AUTH_ISSUERS: readonly Issuer[]
    readonly TRUSTED_NETWORKS: readonly string[]
    readonly ALLOWED_HOSTS: readonly string[]
    readonly TRUSTED_NETWORK_TENANT?: Tenant | undefined
    readonly RATE_LIMIT: object | null
  },
  log: AuthLog,
  { timeoutMs, ...timing }: KeyTiming = KEY_TIMING,
): { readonly authenticate: Authenticate; readonly close: () => void } {
  const issuers = config.AUTH_ISSUERS.map((issuer) => ({
    ...issuer,
    ...startKeyCache(() => fetchKeys(issuer, timeoutMs), timing, withIssuer(log, issuer)),
  }))
  const isTrustedAddress = createNetworkMatcher(config.TRUSTED_NETWORKS)
  const limit = config.RATE_LIMIT === null ? undefined : createBadTokenLimit(isTrustedAddress)
  const verifyToken = rememberTokens(createVerifyToken(issuers), limit)
  const requireOwnSite = createOwnSiteCheck(config.ALLOWED_HOSTS)
  return {
    authenticate: async (request) => {
      const { headers, ip } = request
      if (headers.authorization !== undefined) return verifyToken(headers.authorization, ip)
      if (!isTrustedAddress(ip)) throw new Unauthorized()
      requireOwnSite(request)
      return { tenant: config.TRUSTED_NETWORK_TENANT ?? null, clientId: 'trusted-network', role: EVERY_ROLE }
    },
    close: () => {
      for (const { close } of issuers) close()
    },
  }
}

const withIssuer = (log: AuthLog, { issuer }: Issuer): AuthLog => ({
  info: (message, fields) => log.info(message, { ...fields, issuer }),
  warn: (message, fields) => log.warn(message, { ...fields, issuer }),
})
