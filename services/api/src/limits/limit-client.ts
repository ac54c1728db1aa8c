import { createHash } from 'node:crypto'
import type { RequestLimiter, RequestRate } from '@switchhook/store'
import { HeaderedError } from '../http/problem-handler.ts'
import type { Caller } from '../http/route.ts'

/**
 * Counts a request of an authenticated caller. Resolves to the rate-limit headers of the response; empty without a limit.
 * @throws HeaderedError `rate-limited` for a request above the limit
 */
export type LimitClient = (caller: Caller, address: string | undefined) => Promise<Readonly<Record<string, string>>>

/** Name of the limit in the headers. */
const POLICY = 'client'

/**
 * Each client of each issuer has its own count. Requests from trusted networks are not limited, with or without a token.
 * @param options.rate null: no limit
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
