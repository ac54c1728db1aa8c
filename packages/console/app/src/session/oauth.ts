import * as oauth from 'oauth4webapi'

/** An issuer that people can sign in with, from `config.json`. */
export interface SignIn {
  readonly issuer: string
  readonly clientId: string
  readonly scope: string
  /** The tenant of its people; absent if the service does not tell it. */
  readonly name?: string
}

export interface Tokens {
  readonly accessToken: string
  readonly refreshToken?: string
  /** Tells the issuer at sign-out whose session ends. */
  readonly idToken?: string
  readonly expiresAtMs: number
}

interface Pending {
  readonly signIn: SignIn
  readonly verifier: string
  readonly state: string
  readonly returnTo: string
}

const PENDING_KEY = 'switchhook.sign-in'

/** Tokens without `expires_in` are renewed after this time. */
const ASSUMED_LIFETIME_SECONDS = 300

/** Remembers the verifier for this tab and returns the address of the issuer's sign-in page. */
export async function requestSignIn(
  signIn: SignIn,
  options: { readonly redirectUri: string; readonly returnTo: string; readonly chooseAgain: boolean },
): Promise<string> {
  const server = await discover(signIn)
  if (server.authorization_endpoint === undefined) throw new Error(`${signIn.issuer} has no authorization endpoint.`)
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const pending: Pending = { signIn, verifier, state, returnTo: options.returnTo }
  sessionStorage.setItem(PENDING_KEY, JSON.stringify(pending))
  return addressOf(server.authorization_endpoint, {
    client_id: signIn.clientId,
    redirect_uri: options.redirectUri,
    response_type: 'code',
    scope: signIn.scope,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(options.chooseAgain && { prompt: 'login' }),
  })
}

/**
 * Redeems the code in the address that the issuer redirected to.
 * @throws Error with a message for people
 */
export async function completeSignIn(url: URL, redirectUri: string) {
  const stored = sessionStorage.getItem(PENDING_KEY)
  sessionStorage.removeItem(PENDING_KEY)
  if (stored === null) throw new Error('This sign-in was begun in another tab. Sign in again.')
  const { signIn, verifier, state, returnTo } = JSON.parse(stored) as Pending
  const server = await discover(signIn)
  const client = clientOf(signIn)
  const parameters = oauth.validateAuthResponse(server, client, url, state)
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    parameters,
    redirectUri,
    verifier,
    insecureOf(signIn),
  )
  const answer = await oauth.processAuthorizationCodeResponse(server, client, response)
  return { signIn, tokens: tokensOf(answer), returnTo }
}

/** Undefined if the issuer refuses, because the person has to sign in again. */
export async function refreshTokens(signIn: SignIn, refreshToken: string): Promise<Tokens | undefined> {
  const server = await discover(signIn)
  const client = clientOf(signIn)
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, insecureOf(signIn))
  // An issuer in trouble is not a refusal.
  if (response.status >= 500 || response.status === 429) throw new TypeError(`The issuer answered ${response.status}.`)
  try {
    return tokensOf(await oauth.processRefreshTokenResponse(server, client, response))
  } catch {
    return undefined
  }
}

/** The person does not wait longer for an issuer that does not answer. */
const REVOCATION_MS = 3_000

/** Revokes the refresh token (RFC 7009) if the issuer can. An issuer in trouble leaves it valid until it expires. */
export async function revokeTokens(signIn: SignIn, { refreshToken }: Tokens): Promise<void> {
  const server = await discover(signIn)
  if (server.revocation_endpoint === undefined || refreshToken === undefined) return
  await oauth
    .revocationRequest(server, clientOf(signIn), oauth.None(), refreshToken, {
      ...insecureOf(signIn),
      additionalParameters: { token_type_hint: 'refresh_token' },
      signal: AbortSignal.timeout(REVOCATION_MS),
    })
    .catch(() => {})
}

/**
 * Revokes the refresh token, and returns the address at which the issuer ends its own session and leads back (OpenID
 * Connect RP-Initiated Logout 1.0); undefined if it has none.
 * @throws if the issuer cannot be reached
 */
export async function endAtIssuer(signIn: SignIn, tokens: Tokens, returnTo: string): Promise<string | undefined> {
  // Asked again, because a person who leaves for an issuer that is away does not come back.
  discovered.delete(signIn.issuer)
  const server = await discover(signIn)
  await revokeTokens(signIn, tokens)
  if (server.end_session_endpoint === undefined) return undefined
  return addressOf(server.end_session_endpoint, {
    client_id: signIn.clientId,
    post_logout_redirect_uri: returnTo,
    ...(tokens.idToken !== undefined && { id_token_hint: tokens.idToken }),
  })
}

/** @param endpoint can have parameters of its own */
function addressOf(endpoint: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(endpoint)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

const discovered = new Map<string, Promise<oauth.AuthorizationServer>>()

function discover(signIn: SignIn): Promise<oauth.AuthorizationServer> {
  const known = discovered.get(signIn.issuer)
  if (known !== undefined) return known
  const issuer = new URL(signIn.issuer)
  const discovery = oauth
    .discoveryRequest(issuer, insecureOf(signIn))
    .then((response) => oauth.processDiscoveryResponse(issuer, response))
  discovered.set(signIn.issuer, discovery)
  discovery.catch(() => discovered.delete(signIn.issuer))
  return discovery
}

const clientOf = ({ clientId }: SignIn): oauth.Client => ({ client_id: clientId })

/** Plain http is for issuers that the installation has configured so, such as the local one. */
const insecureOf = ({ issuer }: SignIn): { [oauth.allowInsecureRequests]: boolean } => ({
  [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
})

function tokensOf(answer: oauth.TokenEndpointResponse): Tokens {
  return {
    accessToken: answer.access_token,
    ...(answer.refresh_token !== undefined && { refreshToken: answer.refresh_token }),
    ...(answer.id_token !== undefined && { idToken: answer.id_token }),
    expiresAtMs: Date.now() + (answer.expires_in ?? ASSUMED_LIFETIME_SECONDS) * 1_000,
  }
}
