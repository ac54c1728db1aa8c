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

const POLICY = 'client'

/** Each client of each issuer has its own count. Requests from trusted networks are not limited, with or without a token. */
export function createLimitClient(
  config: { readonly RATE_LIMIT: Rate | null; readonly TRUSTED_NETWORKS: readonly string[] },
  redis: Redis,
): LimitClient {
  const rate = config.RATE_LIMIT
  if (rate === null) return async () => ({})
  const isTrustedAddress = createNetworkMatcher(config.TRUSTED_NETWORKS)
  const limiter = createRequestLimiter(redis, rate)
  // draft-ietf-httpapi-ratelimit-headers-11: structured fields, times in seconds.
  const policy = `"${POLICY}";q=${rate.requests};w=${rate.windowMs / 1_000}`
  /** A verified token is one object for its lifetime. */
  const names = new WeakMap<Caller, string>()
  return async (caller, address) => {
    const { issuer, clientId } = caller
    if (issuer === undefined || isTrustedAddress(address)) return {}
    const name = names.get(caller) ?? hash('sha256', JSON.stringify([issuer, clientId]), 'hex').slice(0, 32)
    names.set(caller, name)
    const { isOver, remaining, resetMs } = await limiter.count(name)
    const resetSeconds = Math.ceil(resetMs / 1_000)
    const headers = { 'RateLimit-Policy': policy, RateLimit: `"${POLICY}";r=${remaining};t=${resetSeconds}` }
    if (isOver)
      throw new HeaderedError('rate-limited', { ...headers, 'Retry-After': String(Math.max(resetSeconds, 1)) })
    return headers
  }
}
