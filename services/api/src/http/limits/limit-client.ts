import { hash } from 'node:crypto'
import { createNetworkMatcher } from '@switchhook/egress'
import type { Rate } from '@switchhook/runtime'
import { createRequestLimiter, type Redis } from '@switchhook/store'
import { HeaderedError } from '../headered-error.ts'
import type { Caller } from '../route.ts'

/**
 * Counts a request of an authenticated caller. Resolves to the rate-limit headers of the response; empty without a limit.
 * @throws HeaderedError `rate-limited` for a request above the limit
 */
export type LimitClient = (caller: Caller, address: string | undefined) => Promise<Readonly<Record<string, string>>>

/**
 * Each client of each issuer has its own count, and all clients of a tenant together have one, because the tenant's identity
 * provider can name any number of clients. Requests from trusted networks are not limited, with or without a token.
 */
export function createLimitClient(
  config: {
    readonly RATE_LIMIT: Rate | null
    readonly RATE_LIMIT_PER_TENANT: Rate | null
    readonly TRUSTED_NETWORKS: readonly string[]
  },
  redis: Redis,
): LimitClient {
  const { RATE_LIMIT, RATE_LIMIT_PER_TENANT } = config
  if (RATE_LIMIT === null) return async () => ({})
  const isTrustedAddress = createNetworkMatcher(config.TRUSTED_NETWORKS)
  const countClient = createCount(redis, 'client', RATE_LIMIT, ({ issuer, clientId }) => [issuer, clientId])
  const countTenant =
    RATE_LIMIT_PER_TENANT && createCount(redis, 'tenant', RATE_LIMIT_PER_TENANT, ({ tenant }) => ['tenant', tenant])
  return async (caller, address) => {
    if (caller.issuer === undefined || isTrustedAddress(address)) return {}
    // Otherwise each client that a tenant over its limit invents would cost Redis a count.
    if (countTenant?.isUsedUp(caller) === true) await countTenant.count(caller)
    const headers = await countClient.count(caller)
    await countTenant?.count(caller)
    return headers
  }
}

function createCount(redis: Redis, policy: string, rate: Rate, ownerOf: (caller: Caller) => readonly unknown[]) {
  const limiter = createRequestLimiter(redis, rate)
  // draft-ietf-httpapi-ratelimit-headers-11: structured fields, times in seconds.
  const policyText = `"${policy}";q=${rate.requests};w=${rate.windowMs / 1_000}`
  /** A verified token is one object for its lifetime. */
  const names = new WeakMap<Caller, string>()
  const nameOf = (caller: Caller): string => {
    const name = names.get(caller) ?? hash('sha256', JSON.stringify(ownerOf(caller)), 'hex').slice(0, 32)
    names.set(caller, name)
    return name
  }
  async function count(caller: Caller) {
    const { isOver, remaining, resetMs } = await limiter.count(nameOf(caller))
    const resetSeconds = Math.ceil(resetMs / 1_000)
    const headers = { 'RateLimit-Policy': policyText, RateLimit: `"${policy}";r=${remaining};t=${resetSeconds}` }
    if (isOver)
      throw new HeaderedError('rate-limited', { ...headers, 'Retry-After': String(Math.max(resetSeconds, 1)) })
    return headers
  }
  return { count, isUsedUp: (caller: Caller): boolean => limiter.isUsedUp(nameOf(caller)) }
}
