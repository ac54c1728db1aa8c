import type { Handler, Request, Response } from 'express'
import { auth } from 'express-oauth2-jwt-bearer'
import { type Claims, claimOf, valuesOf } from '../claims.ts'
import { BEARER_CHALLENGE, HeaderedError } from '../headered-error.ts'
import { roleOf } from '../role.ts'
import type { Caller } from '../route.ts'
import type { Key, KeySet } from './fetch-keys.ts'
import type { Issuer } from './issuer.ts'
import type { startKeyCache } from './key-cache.ts'
import { clientOf, kindFault } from './token-kind.ts'

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
  /** Whether the issuer's keys are still those that the token was verified with. Waits for no fetch. */
  readonly hasCurrentKeys: () => boolean
}

export type TrustedIssuer = Issuer & Pick<ReturnType<typeof startKeyCache>, 'keysFor' | 'currentKeys'>

/** What a token says before its signature is verified: nothing in it can be trusted yet. */
interface Unverified {
  readonly header: Claims
  readonly algorithm: string
  readonly kid: string | undefined
  readonly issuer: string
}

/** Public-key algorithms only: with a shared secret, every verifier could also sign tokens. */
const ALGORITHM = /^((RS|PS|ES)(256|384|512)|EdDSA)$/

/** By the first two letters of the algorithm (RFC 7518, section 3.1; RFC 8037). */
const KEY_TYPES: Readonly<Record<string, string>> = { RS: 'RSA', PS: 'RSA', ES: 'EC', Ed: 'OKP' }

/**
 * Its function checks the token of a request: signature, issuer, audience, time, and that it is an access token. It throws
 * Unauthorized with the reason, or AppError `service-unavailable` without the signing keys.
 */
export function createVerifyToken(issuers: readonly TrustedIssuer[]) {
  const verifiers = new Map(issuers.map((issuer) => [issuer.issuer, createVerifier(issuer)]))
  return async (request: Request): Promise<VerifiedToken> => {
    const token = /^bearer +([^ ]+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (token === undefined) throw new Unauthorized('The Authorization header does not carry a bearer token')
    const unverified = peek(token)
    if (!ALGORITHM.test(unverified.algorithm)) {
      throw new Unauthorized('The token is not signed with an accepted algorithm')
    }
    const verify = verifiers.get(unverified.issuer)
    if (verify === undefined) throw new Unauthorized('The issuer of the token is not accepted')
    return verify(withTokenOnly(request, token), unverified)
  }
}

/**
 * The request as the library must see it: with the token and nothing else that could refuse it. It looks for a second token in
 * the query, and refuses hosts, absolute targets and spaces that HTTP allows, because it builds the url for DPoP in any case.
 */
const withTokenOnly = (request: Request, token: string): Request =>
  Object.create(request, {
    headers: { value: { host: 'api', authorization: `Bearer ${token}` } },
    originalUrl: { value: '/' },
    query: { value: {} },
  }) as Request

function peek(token: string): Unverified {
  try {
    const [header, payload] = token
      .split('.', 2)
      .map((part): unknown => JSON.parse(Buffer.from(part, 'base64url').toString()))
    const { alg, kid } = header as Claims
    const { iss } = payload as Claims
    if (typeof alg !== 'string' || typeof iss !== 'string') throw new TypeError('alg or iss is missing')
    return { header: header as Claims, algorithm: alg, kid: typeof kid === 'string' ? kid : undefined, issuer: iss }
  } catch {
    throw new Unauthorized('The token is not a signed JWT of an issuer')
  }
}

function createVerifier(issuer: TrustedIssuer): (request: Request, token: Unverified) => Promise<VerifiedToken> {
  const handlers = new WeakMap<Key, Handler>()
  const handlerOf = (key: Key): Handler => {
    const handler = handlers.get(key) ?? createHandler(issuer, key)
    handlers.set(key, handler)
    return handler
  }
  const check = (request: Request, token: Unverified, keys: KeySet): Promise<Checked> =>
    checkWithKeys(request, fittingKeys(keys, token).map(handlerOf))

  return async (request, token) => {
    let keys = await issuer.keysFor(token.kid)
    let checked = await check(request, token, keys)
    if ('isKeyMissing' in checked && checked.isKeyMissing && token.kid === undefined) {
      keys = await issuer.keysFor(token.kid, keys)
      checked = await check(request, token, keys)
    }
    if ('reason' in checked) throw new Unauthorized(checked.reason)
    const { claims } = checked
    const fault = kindFault(token.header, claims)
    if (fault !== undefined) throw new Unauthorized(fault)
    return {
      caller: callerOf(claims, issuer),
      // The key cache keeps the same object while the keys are unchanged.
      hasCurrentKeys: () => issuer.currentKeys() === keys,
    }
  }
}

function callerOf(claims: Claims, { tenant, issuer, clientIdClaims, roles }: Issuer): Caller {
  const subject = nonEmpty(claims['sub'])
  // The subject of a token of the client credentials flow is the client.
  const clientId = nonEmpty(clientOf(claims, clientIdClaims)) ?? subject ?? 'unknown'
  const expiresAtMs = Number(claims['exp']) * 1_000
  return {
    tenant,
    clientId,
    issuer,
    ...(Number.isFinite(expiresAtMs) && { expiresAtMs }),
    ...(subject !== undefined && subject !== clientId && { subject }),
    role: roleOf(claims, roles),
  }
}

/** The key that the token names. A token without a `kid` may be signed with any key that fits its algorithm. */
const fittingKeys = ({ keys }: KeySet, { algorithm, kid }: Unverified): readonly Key[] =>
  keys
    .filter(
      (key) =>
        (kid === undefined || key.kid === kid) &&
        key.kty === KEY_TYPES[algorithm.slice(0, 2)] &&
        (key.alg === undefined || key.alg === algorithm),
    )
    .slice(0, MAX_TRIED)

/** Each costs a millisecond, also for a forged token. */
const MAX_TRIED = 10

/** The middleware of the library for one key: it tries no second key if several fit a token without a `kid`. */
function createHandler({ issuer, audience, audienceClaim }: Issuer, key: Key): Handler {
  // The library reads omitted options from environment variables such as SECRET; empty strings prevent that.
  const fromEnvironment = { issuerBaseURL: '', jwksUri: '', secret: '', tokenSigningAlg: '' }
  const named = audienceClaim !== undefined && {
    validators: { aud: (_aud: unknown, claims: Claims) => valuesOf(claimOf(claims, audienceClaim)).has(audience) },
  }
  return auth({ ...fromEnvironment, issuer, audience, publicKey: { keys: [key] }, dpop: { enabled: false }, ...named })
}

type Checked = { readonly claims: Claims } | { readonly reason: string; readonly isKeyMissing: boolean }

const WRONG_KEY = 'signature verification failed'

async function checkWithKeys(request: Request, handlers: readonly Handler[]): Promise<Checked> {
  const reasons: string[] = []
  for (const handler of handlers) {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    void handler(request, {} as Response, resolve)
    const error = await promise
    if (error === undefined && request.auth !== undefined) return { claims: request.auth.payload }
    reasons.push(error instanceof Error ? error.message : 'The token is not valid')
  }
  const otherReason = reasons.find((reason) => reason !== WRONG_KEY)
  const reason = otherReason ?? reasons[0] ?? 'The issuer has published no signing key that fits the token'
  return { reason, isKeyMissing: otherReason === undefined }
}

const nonEmpty = (claim: unknown): string | undefined =>
  typeof claim === 'string' && claim !== '' ? claim.slice(0, 256) : undefined

/** A reason may quote the token's header, which is untrusted: keeps only characters that a quoted string allows. */
const quotable = (reason: string): string =>
  reason
    .replaceAll('"', "'")
    .replaceAll(/[^\x20-\x7e]|\\/g, '')
    .slice(0, 200)
