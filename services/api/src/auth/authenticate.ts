import type { Caller } from '../http/route.ts'
import { Unauthorized } from './unauthorized.ts'
import type { VerifyToken } from './verify-token.ts'

/** As much of a request as decides who sent it. */
interface Credentials {
  readonly headers: { readonly authorization?: string | undefined }
  /** The client's address: the socket's, or what a trusted proxy says. */
  readonly ip?: string | undefined
}

/** @throws Unauthorized, or AppError `service-unavailable` */
export type Authenticate = (request: Credentials) => Promise<Caller>

/**
 * A request that shows a token is judged by its token, wherever it comes from; one that shows none is let in only from
 * a trusted network.
 */
export function createAuthenticate(options: {
  readonly verifyToken: VerifyToken
  readonly isTrustedAddress: (address: string | undefined) => boolean
  /** Whose caller somebody from a trusted network is; null: the installation itself. */
  readonly trustedNetworkTenant: string | null
}): Authenticate {
  return async ({ headers, ip }) => {
    if (headers.authorization !== undefined) return options.verifyToken(headers.authorization)
    if (!options.isTrustedAddress(ip)) throw new Unauthorized()
    return { tenant: options.trustedNetworkTenant, clientId: 'trusted-network' }
  }
}
