import { createHash } from 'node:crypto'
import type { RequestLimiter, RequestRate } from '@switchhook/store'
import { HeaderedError } from '../http/problem-handler.ts'
import type { Caller } from '../http/route.ts'

/**
 * Counts a request of a caller that is known. Answers the headers that tell of the count (empty: there is none).
 * @throws HeaderedError `rate-limited` for the one request too many
 */
export type LimitClient = (caller: Caller, address: string | undefined) => Promise<Readonly<Record<string, string>>>

/** What the limit is called in the headers. */
const POLICY = 'client'

/**
 * Each client of each issuer has a count of its own. Trusted networks have none, with a token or without.
 * @param rate null: there is no limit
 */
export function createLimitClient(options: {
  readonly rate: RequestRate | null
  readonly limiter: (rate: RequestRate) => RequestLimiter
  readonly isTrustedAddress: (address: string | undefined) => boolean
}): LimitClient {
  const { rate, isTrustedAddress } = options
  if (rate === null) return async () => ({})
  const limiter = options.limiter(rate)
  // draft-ietf-httpapi-ratelimit-headers-11: structured fields, times in seconds.
  const policy = `"${POLICY}";q=${rate.requests};w=${rate.windowMs / 1_000}`
  return async ({ issuer, clientId }, address) => {
    if (issuer === undefined || isTrustedAddress(address)) return {}
    const { isOver, remaining, resetMs } = await limiter.count(nameOf(issuer, clientId))
    const resetSeconds = Math.ceil(resetMs / 1_000)
    const headers = { 'RateLimit-Policy': policy, RateLimit: `"${POLICY}";r=${remaining};t=${resetSeconds}` }
    if (isOver)
      throw new HeaderedError('rate-limited', { ...headers, 'Retry-After': String(Math.max(resetSeconds, 1)) })
    return headers
  }
}

const nameOf = (issuer: string, clientId: string): string =>
  createHash('sha256')
    .update(JSON.stringify([issuer, clientId]))
    .digest('hex')
    .slice(0, 32)
