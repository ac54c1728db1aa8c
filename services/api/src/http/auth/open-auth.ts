import { AppError, type Tenant } from '@switchhook/contracts'
import { createNetworkMatcher } from '@switchhook/egress'
import type { Logger } from '@switchhook/runtime'
import type { Request } from 'express'
import { createBadTokenLimit } from '../limits/limit-bad-tokens.ts'
import { EVERY_ROLE } from '../role.ts'
import type { Caller } from '../route.ts'
import { fetchKeys } from './fetch-keys.ts'
import type { Issuer } from './issuer.ts'
import { type KeyTiming, startKeyCache } from './key-cache.ts'
import { createOwnSiteCheck } from './own-site.ts'
import { openProviderConnections } from './provider-connections.ts'
import { rememberTokens } from './remember-tokens.ts'
import { createVerifyToken, Unauthorized } from './verify-token.ts'

/**
 * @param address of the socket, or the address that a trusted proxy reports
 * @throws Unauthorized, or AppError `invalid-request`, `rate-limited`, `service-unavailable`, `host-not-allowed` or
 * `cross-site-request`
 */
export type Authenticate = (request: Request, address: string | undefined) => Promise<Caller>

export interface Auth {
  readonly authenticate: Authenticate
  /** For how long all identity providers of a tenant have been reachable, in ms. */
  readonly unreachableMsAgo: (tenant: Tenant) => number
}

type AuthLog = Pick<Logger, 'info' | 'warn'>

const KEY_TIMING: KeyTiming = { refreshMs: 10 * 60_000, cooldownMs: 1_000, timeoutMs: 3_000 }

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
): Auth & { readonly close: () => void } {
  const connections = openProviderConnections(timeoutMs)
  const issuers = config.AUTH_ISSUERS.map((issuer) => ({
    ...issuer,
    ...startKeyCache(() => fetchKeys(issuer, timeoutMs, connections), timing, withIssuer(log, issuer)),
  }))
  const isTrustedAddress = createNetworkMatcher(config.TRUSTED_NETWORKS)
  const limit = config.RATE_LIMIT === null ? undefined : createBadTokenLimit(isTrustedAddress)
  const verifyToken = rememberTokens(createVerifyToken(issuers), limit)
  const requireOwnSite = createOwnSiteCheck(config.ALLOWED_HOSTS)
  return {
    authenticate: async (request, address) => {
      if (request.headers.authorization !== undefined) {
        requireOneToken(request)
        return verifyToken(request, address)
      }
      if (!isTrustedAddress(address)) throw new Unauthorized()
      requireOwnSite(request)
      return { tenant: config.TRUSTED_NETWORK_TENANT ?? null, clientId: 'trusted-network', role: EVERY_ROLE }
    },
    unreachableMsAgo: (tenant) =>
      Math.min(...issuers.filter((issuer) => issuer.tenant === tenant).map((issuer) => issuer.unreachableMsAgo())),
    close: () => {
      for (const { close } of issuers) close()
    },
  }
}

/** Node keeps the first of several headers; a proxy in front may have judged another one. */
function requireOneToken({ rawHeaders }: Request): void {
  const names = rawHeaders.filter((_, at) => at % 2 === 0)
  if (names.filter((name) => name.toLowerCase() === 'authorization').length > 1) {
    throw new AppError('invalid-request', { detail: 'The request has more than one Authorization header.' })
  }
}

const withIssuer = (log: AuthLog, { issuer }: Issuer): AuthLog => ({
  info: (message, fields) => log.info(message, { ...fields, issuer }),
  warn: (message, fields) => log.warn(message, { ...fields, issuer }),
})
