import { type Claims, claimOf } from '../claims.ts'

/**
 * Where identity providers name the client: OpenID Connect, RFC 9068 and Cognito, Entra's version 1.0, Okta. The first one
 * that is present counts.
 */
const CLIENT_ID_CLAIMS: readonly string[] = ['azp', 'client_id', 'appid', 'cid']

/** @param names of claims, or JSON pointers, in their order; absent: those of the usual providers */
export const clientOf = (claims: Claims, names: readonly string[] = CLIENT_ID_CLAIMS): unknown =>
  names.map((name) => claimOf(claims, name)).find((claim) => typeof claim === 'string' && claim !== '')

/** Of the header: RFC 7519, section 5.1, and RFC 9068. A logout token is a `logout+jwt`, for example. */
const ACCESS_TOKEN_TYPE = /^(application\/)?(jwt|at\+jwt)$/i

/** The claim `typ` of Keycloak; an access token has `Bearer`. */
const OTHER_KIND = /^(id|refresh|offline|logout)$/i

/**
 * Why a token of the right issuer and audience is no access token that its bearer may use. An identity or logout token has
 * a client as its audience, so it gets here if `audience` is the id of a client.
 * @returns undefined: it is an access token
 */
export function kindFault({ typ }: Claims, claims: Claims): string | undefined {
  if (claims['cnf'] !== undefined) return 'The token is bound to a key (cnf); bound tokens are not accepted'
  if (typ !== undefined && !(typeof typ === 'string' && ACCESS_TOKEN_TYPE.test(typ))) {
    return 'The typ of the token is not that of an access token'
  }
  return isOtherKind(claims) ? 'The token is an identity, refresh or logout token, and no access token' : undefined
}

const isOtherKind = (claims: Claims): boolean =>
  // Cognito.
  (claims['token_use'] !== undefined && claims['token_use'] !== 'access') ||
  (typeof claims['typ'] === 'string' && OTHER_KIND.test(claims['typ'])) ||
  // OpenID Connect Back-Channel Logout 1.0, section 2.4; Core 1.0, sections 3.1.3.6 and 3.3.2.11.
  ['events', 'at_hash', 'c_hash'].some((name) => claims[name] !== undefined) ||
  // An access token names its client. Some have the nonce of the sign-in too.
  (claims['nonce'] !== undefined && clientOf(claims) === undefined)
