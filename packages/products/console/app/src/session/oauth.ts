import type { Schemas } from '@switchhook/client'
import * as openid from 'openid-client'
import { type Life, lifeOf } from './lifetime.ts'

/** An issuer that people can sign in with. */
export type SignIn = Schemas['SignInOffer']['issuers'][number]

export interface Tokens extends Life {
  readonly accessToken: string
  readonly refreshToken?: string
  /** Tells the issuer at sign-out whose session ends. */
  readonly idToken?: string
}

interface Pending {
  readonly signIn: SignIn
  readonly verifier: string
  readonly state: string
  readonly returnTo: string
}

const PENDING_KEY = 'switchhook.sign-in'

/** Lifetime of a token whose answer does not tell it. */
const ASSUMED_LIFETIME_SECONDS = 300

/** Returns the address of the issuer's sign-in page. This tab remembers the verifier and the address to return to. */
export async function requestSignIn(signIn: SignIn, redirectUri: string, chooseAgain: boolean): Promise<string> {
  const issuer = await discover(signIn)
  const verifier = openid.randomPKCECodeVerifier()
  const state = openid.randomState()
  const address = openid.buildAuthorizationUrl(issuer, {
    redirect_uri: redirectUri,
    scope: signIn.scope,
    state,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(chooseAgain && { prompt: 'login' }),
  })
  const pending: Pending = { signIn, verifier, state, returnTo: location.href }
  sessionStorage.setItem(PENDING_KEY, JSON.stringify(pending))
  return address.href
}

/** Redeems the code in the address that the issuer redirected to. @throws Error with a message for people */
export async function completeSignIn(url: URL) {
  const stored = sessionStorage.getItem(PENDING_KEY)
  const pending = stored === null ? undefined : (JSON.parse(stored) as Pending)
  if (pending === undefined || url.searchParams.get('state') !== pending.state)
    throw new Error('This sign-in was begun in another tab. Sign in again.')
  sessionStorage.removeItem(PENDING_KEY)
  const { signIn, verifier, state, returnTo } = pending
  const checks = { pkceCodeVerifier: verifier, expectedState: state }
  const answer = await openid.authorizationCodeGrant(await discover(signIn), url, checks)
  return { signIn, tokens: tokensOf(answer), returnTo }
}

/** Undefined if the issuer refuses, because the person has to sign in again. */
export async function refreshTokens(signIn: SignIn, refreshToken: string): Promise<Tokens | undefined> {
  const issuer = await discover(signIn)
  try {
    return tokensOf(await openid.refreshTokenGrant(issuer, refreshToken))
  } catch (error) {
    if (isInTrouble(error)) throw error
    return undefined
  }
}

/** Whether a request failed without a refusal: the issuer did not answer, or answered that it cannot now. */
function isInTrouble(error: unknown): boolean {
  if (error instanceof TypeError) return true
  const { code, cause, status } = error as { code?: string; cause?: unknown; status?: number }
  const answered = status ?? (cause instanceof Response ? cause.status : 0)
  return code === 'OAUTH_TIMEOUT' || answered >= 500 || answered === 429
}

/** The person does not wait longer for an issuer that does not answer. */
const REVOCATION_SECONDS = 3

/** Revokes the refresh token (RFC 7009) if the issuer can. An issuer in trouble leaves it valid until it expires. */
export async function revokeTokens(signIn: SignIn, { refreshToken }: Tokens): Promise<openid.Configuration> {
  const issuer = await discover(signIn)
  if (issuer.serverMetadata().revocation_endpoint === undefined || refreshToken === undefined) return issuer
  issuer.timeout = REVOCATION_SECONDS
  await openid.tokenRevocation(issuer, refreshToken, { token_type_hint: 'refresh_token' }).catch(() => {})
  return issuer
}

/**
 * Revokes the refresh token. Returns the address that ends the issuer's own session and leads back (OpenID Connect
 * RP-Initiated Logout 1.0), if there is one. @throws if the issuer cannot be reached
 */
export async function endAtIssuer(signIn: SignIn, tokens: Tokens, returnTo: string): Promise<string | undefined> {
  const issuer = await revokeTokens(signIn, tokens)
  if (issuer.serverMetadata().end_session_endpoint === undefined) return undefined
  return openid.buildEndSessionUrl(issuer, {
    post_logout_redirect_uri: returnTo,
    ...(tokens.idToken !== undefined && { id_token_hint: tokens.idToken }),
  }).href
}

/** Plain http is for issuers that the installation has configured so, such as the local one. */
const discover = ({ issuer, clientId }: SignIn): Promise<openid.Configuration> =>
  openid.discovery(new URL(issuer), clientId, undefined, openid.None(), {
    execute: issuer.startsWith('http:') ? [openid.allowInsecureRequests] : [],
  })

const tokensOf = (answer: openid.TokenEndpointResponse): Tokens => ({
  accessToken: answer.access_token,
  ...(answer.refresh_token !== undefined && { refreshToken: answer.refresh_token }),
  ...(answer.id_token !== undefined && { idToken: answer.id_token }),
  ...lifeOf(answer.expires_in ?? ASSUMED_LIFETIME_SECONDS),
})
