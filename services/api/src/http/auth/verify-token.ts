import type { Handler, Request, Response } from 'express'
import { auth } from 'express-oauth2-jwt-bearer'
import { BEARER_CHALLENGE, HeaderedError } from '../headered-error.ts'
import { roleOf } from '../role.ts'
import type { Caller } from '../route.ts'
import type { KeySet } from './fetch-keys.ts'
import type { Issuer } from './issuer.ts'
import type { startKeyCache } from './key-cache.ts'

/** A missing or invalid token, with the challenge of RFC 6750, section 3. */
export class Unauthorized extends HeaderedError {
  /** @param reason why the token is invalid; absent: there is no token */
  constructor(reason?: string) {
    const detail = reason === undefined ? undefined : quotable(reason)
    const challenge = detail === undefined ? '' : `, error="invalid_token", error_description="${detail}"`
    const extra = detail === undefined ? {} : { detail }
    super('unauthorized', { 'WWW-Authenticate': `${BEARER_CHALLENGE}${challenge}` }, extra)
  }
}

export interface VerifiedToken {
  readonly caller: Caller
  /** Whether the issuer still has the keys that the token was verified with. Rejects like a verification. */
  readonly hasCurrentKeys: () => Promise<boolean>
}

export type TrustedIssuer = Issuer & Pick<ReturnType<typeof startKeyCache>, 'keysFor'>

/** Public-key algorithms only: with a shared secret, every verifier could also sign tokens. */
const ALGORITHM = /^((RS|PS|ES)(256|384|512)|EdDSA)$/

/**
 * Its function checks the value of an `Authorization` header: signature, issuer, audience and time. It throws Unauthorized
 * with the reason, or AppError `service-unavailable` without the signing keys.
 */
export function createVerifyToken(issuers: readonly TrustedIssuer[]) {
  const verifiers = new Map(issuers.map((issuer) => [issuer.issuer, createVerifier(issuer)]))
  return async (authorization: string): Promise<VerifiedToken> => {
    const token = /^bearer +([^ ]+)$/i.exec(authorization)?.[1]
    if (token === undefined) throw new Unauthorized('The Authorization header does not carry a bearer token')
    const { algorithm, kid, issuer } = peek(token)
    if (!ALGORITHM.test(algorithm)) throw new Unauthorized('The token is not signed with an accepted algorithm')
    const verify = verifiers.get(issuer)
    if (verify === undefined) throw new Unauthorized('The issuer of the token is not accepted')
    return verify(token, kid)
  }
}

/** Reads the token before its signature is verified: nothing in it can be trusted yet. */
function peek(token: string): { algorithm: string; kid: string | undefined; issuer: string } {
  try {
    const [header, payload] = token
      .split('.', 2)
      .map((part): unknown => JSON.parse(Buffer.from(part, 'base64url').toString()))
    const { alg, kid } = header as Record<string, unknown>
    const { iss } = payload as Record<string, unknown>
    if (typeof alg !== 'string' || typeof iss !== 'string') throw new TypeError('alg or iss is missing')
    return { algorithm: alg, kid: typeof kid === 'string' ? kid : undefined, issuer: iss }
  } catch {
    throw new Unauthorized('The token is not a signed JWT of an issuer')
  }
}

function createVerifier(issuer: TrustedIssuer): (token: string, kid: string | undefined) => Promise<VerifiedToken> {
  const handlers = new WeakMap<KeySet, Handler>()
  return async (token, kid) => {
    const keys = await issuer.keysFor(kid)
    const handler = handlers.get(keys) ?? createHandler(issuer, keys)
    handlers.set(keys, handler)
    const claims = await claimsOf(handler, token)
    const clientId = clientIdOf(claims)
    const subject = subjectOf(claims)
    const isOther = subject !== undefined && subject !== clientId
    const expiresAtMs = Number(claims['exp']) * 1_000
    return {
      caller: {
        tenant: issuer.tenant,
        clientId,
        issuer: issuer.issuer,
        ...(Number.isFinite(expiresAtMs) && { expiresAtMs }),
        ...(isOther && { subject }),
        role: roleOf(claims, issuer.roles),
      },
      // The key cache keeps the same object while the keys are unchanged.
      hasCurrentKeys: async () => (await issuer.keysFor(kid)) === keys,
    }
  }
}

function createHandler({ issuer, audience }: Issuer, keys: KeySet): Handler {
  // The library reads omitted options from environment variables such as SECRET; empty strings prevent that.
  const fromEnvironment = { issuerBaseURL: '', jwksUri: '', secret: '', tokenSigningAlg: '' }
  return auth({ ...fromEnvironment, issuer, audience, publicKey: keys, dpop: { enabled: false } })
}

/** The library expects a request, and would also take a token from its query. So it gets one with the token alone. */
function claimsOf(handler: Handler, token: string): Promise<Readonly<Record<string, unknown>>> {
  const shown = { headers: { authorization: `Bearer ${token}` }, method: 'GET', protocol: 'https', originalUrl: '/' }
  const request = { ...shown, get: () => 'api', is: () => false } as unknown as Request
  return new Promise((resolve, reject) => {
    const next = (error?: unknown): void => {
      if (error === undefined && request.auth !== undefined) resolve(request.auth.payload)
      else reject(new Unauthorized(error instanceof Error ? error.message : 'The token is not valid'))
    }
    void handler(request, {} as Response, next)
  })
}

/** `azp` (OpenID Connect), `client_id` (RFC 9068), or the subject, which is the client for client credentials. */
function clientIdOf({ azp, client_id: clientId, sub }: Readonly<Record<string, unknown>>): string {
  const id = [azp, clientId, sub].find((claim) => typeof claim === 'string' && claim !== '')
  return typeof id === 'string' ? id.slice(0, 256) : 'unknown'
}

const subjectOf = ({ sub }: Readonly<Record<string, unknown>>): string | undefined =>
  typeof sub === 'string' && sub !== '' ? sub.slice(0, 256) : undefined

/** A reason may quote the token's header, which is untrusted: keeps only characters that a quoted string allows. */
const quotable = (reason: string): string =>
  reason
    .replaceAll('"', "'")
    .replaceAll(/[^\x20-\x7e]|\\/g, '')
    .slice(0, 200)
