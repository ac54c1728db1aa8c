import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose'
import { type Claims, claimOf, valuesOf } from '../claims.ts'
import { BEARER_CHALLENGE, HeaderedError } from '../headered-error.ts'
import { roleOf } from '../role.ts'
import type { Caller } from '../route.ts'
import type { KeySet } from './fetch-keys.ts'
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
  /** Whether the issuer still has the keys that the token was verified with. Rejects like a verification. */
  readonly hasCurrentKeys: () => Promise<boolean>
}

export type TrustedIssuer = Issuer & Pick<ReturnType<typeof startKeyCache>, 'keysFor'>

/** Public-key algorithms only: with a shared secret, every verifier could also sign tokens. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']

/** How far the clocks of the provider and of this process may differ, in seconds. */
const CLOCK_TOLERANCE_S = 5

/**
 * Its function checks the token of an `Authorization` header: signature, issuer, audience, time, and that it is an access
 * token. It throws Unauthorized with the reason, or AppError `service-unavailable` without the signing keys.
 */
export function createVerifyToken(issuers: readonly TrustedIssuer[]) {
  const verifiers = new Map<unknown, VerifyToken>(issuers.map((issuer) => [issuer.issuer, createVerifier(issuer)]))
  return async (authorization: string): Promise<VerifiedToken> => {
    const token = /^bearer +([^ ]+)$/i.exec(authorization)?.[1]
    if (token === undefined) throw new Unauthorized('The Authorization header does not carry a bearer token')
    const { alg = '', kid, iss } = peek(token)
    if (!ALGORITHMS.includes(alg)) throw new Unauthorized('The token is not signed with an accepted algorithm')
    const verify = verifiers.get(iss)
    if (verify === undefined) throw new Unauthorized('The issuer of the token is not accepted')
    return verify(token, kid)
  }
}

/** What a token says before its signature is verified: nothing in it can be trusted yet. */
function peek(token: string) {
  try {
    const { alg, kid } = decodeProtectedHeader(token)
    return { alg, kid, iss: decodeJwt(token).iss }
  } catch {
    throw new Unauthorized('The token is not a signed JWT of an issuer')
  }
}

type VerifyToken = (token: string, kid: string | undefined) => Promise<VerifiedToken>

function createVerifier(issuer: TrustedIssuer): VerifyToken {
  const { audience, audienceClaim } = issuer
  const options = {
    issuer: issuer.issuer,
    algorithms: ALGORITHMS,
    requiredClaims: ['exp'],
    clockTolerance: CLOCK_TOLERANCE_S,
    ...(audienceClaim === undefined && { audience }),
  }

  type Checked = JWTVerifyResult & { readonly keys: KeySet }

  /** @param tried keys that did not sign the token, which has no `kid` */
  async function check(token: string, kid: string | undefined, tried?: KeySet): Promise<Checked> {
    const keys = await issuer.keysFor(kid, tried)
    try {
      return { keys, ...(await verifyWith(keys.find, token, options)) }
    } catch (error) {
      // Without a `kid`, only the signature shows that the provider has published another key.
      if (kid === undefined && tried === undefined && isKeyMissing(error)) return check(token, kid, keys)
      throw new Unauthorized(error instanceof Error ? error.message : 'The token is not valid')
    }
  }

  return async (token, kid) => {
    const { keys, payload, protectedHeader } = await check(token, kid)
    if (audienceClaim !== undefined && !valuesOf(claimOf(payload, audienceClaim)).has(audience)) {
      throw new Unauthorized(`The claim ${audienceClaim} does not name the audience`)
    }
    const fault = kindFault(protectedHeader, payload)
    if (fault !== undefined) throw new Unauthorized(fault)
    return {
      caller: callerOf(payload, issuer),
      hasCurrentKeys: async () => (await issuer.keysFor(kid)) === keys,
    }
  }
}

/** @throws an error of the library */
async function verifyWith(
  findKey: JWTVerifyGetKey,
  token: string,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, findKey, options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    let reason: unknown = new errors.JWSSignatureVerificationFailed()
    // A token without a `kid` may be signed with any key that fits its algorithm.
    for await (const key of error) {
      try {
        return await jwtVerify(token, key, options)
      } catch (failed) {
        if (!isKeyMissing(failed)) reason = failed
      }
    }
    throw reason
  }
}

const isKeyMissing = (error: unknown): boolean =>
  error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed

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

const nonEmpty = (claim: unknown): string | undefined =>
  typeof claim === 'string' && claim !== '' ? claim.slice(0, 256) : undefined

/** A reason may quote the token's header, which is untrusted: keeps only characters that a quoted string allows. */
const quotable = (reason: string): string =>
  reason
    .replaceAll('"', "'")
    .replaceAll(/[^\x20-\x7e]|\\/g, '')
    .slice(0, 200)
