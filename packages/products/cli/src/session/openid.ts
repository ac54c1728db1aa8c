import type { Schemas } from '@switchhook/client'
import type { Configuration, TokenEndpointResponse } from 'openid-client'
import { openCallback } from './browser.ts'
import type { SignIn } from './profiles.ts'
import { signInProblem } from './sign-in-problem.ts'

/** Loaded at need: most commands have a valid token. */
const openid = () => import('openid-client')

export type Provider = Omit<Schemas['SignInOffer']['issuers'][number], 'name'>

/** Lifetime of a token whose answer does not tell it. */
const DEFAULT_LIFETIME_SECONDS = 300

type Tokens = Pick<SignIn, 'accessToken' | 'expiresAtMs'> & { readonly refreshToken?: string }

const tokensOf = ({ access_token, expires_in, refresh_token }: TokenEndpointResponse): Tokens => ({
  accessToken: access_token,
  expiresAtMs: Date.now() + (expires_in ?? DEFAULT_LIFETIME_SECONDS) * 1_000,
  ...(refresh_token !== undefined && { refreshToken: refresh_token }),
})

/** Runs a step of a sign-in. @throws SignInFailed */
async function step<T>(address: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw signInProblem(error, address)
  }
}

/** Discovers the provider of people. Plain http is for providers on this machine. */
async function discover({ issuer, clientId }: Pick<Provider, 'issuer' | 'clientId'>): Promise<Configuration> {
  const { discovery, None, allowInsecureRequests } = await openid()
  const execute = isLoopback(issuer) ? [allowInsecureRequests] : []
  return step(issuer, () => discovery(new URL(issuer), clientId, undefined, None(), { execute }))
}

const isLoopback = (url: string): boolean =>
  ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname) && url.startsWith('http:')

/** The token endpoint of an issuer, for applications. */
export async function tokenUrlOf(issuer: string, clientId: string): Promise<string> {
  return (await discover({ issuer, clientId })).serverMetadata().token_endpoint ?? issuer
}

/** Signs a person in with a browser on this machine: the authorization code flow with PKCE. */
export async function withBrowser(provider: Provider, show: (address: string) => void): Promise<SignIn> {
  const client = await openid()
  const config = await discover(provider)
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const callback = await openCallback()
  try {
    const address = client.buildAuthorizationUrl(config, {
      redirect_uri: callback.redirectUri,
      scope: provider.scope,
      state: expectedState,
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    })
    show(address.href)
    const returned = await callback.returned
    const checks = { pkceCodeVerifier, expectedState, idTokenExpected: provider.scope.split(' ').includes('openid') }
    const tokens = await step(provider.issuer, () => client.authorizationCodeGrant(config, returned, checks))
    return { kind: 'person', ...provider, ...tokensOf(tokens) }
  } finally {
    callback.close()
  }
}

/** Signs a person in on another device. */
export async function withDevice(provider: Provider, show: (address: string, code: string) => void): Promise<SignIn> {
  const { initiateDeviceAuthorization, pollDeviceAuthorizationGrant } = await openid()
  const config = await discover(provider)
  const begun = await step(provider.issuer, () => initiateDeviceAuthorization(config, { scope: provider.scope }))
  show(begun.verification_uri_complete ?? begun.verification_uri, begun.user_code)
  const tokens = await step(provider.issuer, () => pollDeviceAuthorizationGrant(config, begun))
  return { kind: 'person', ...provider, ...tokensOf(tokens) }
}

/** Gets another token, by the refresh token or by the secret. @throws SignInFailed */
export async function renew(signIn: SignIn): Promise<SignIn> {
  const client = await openid()
  if (signIn.kind === 'application') {
    const { tokenUrl, clientId, clientSecret, scope } = signIn
    const server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl }
    const config = new client.Configuration(server, clientId, undefined, client.ClientSecretPost(clientSecret))
    if (isLoopback(tokenUrl)) client.allowInsecureRequests(config)
    const tokens = await step(tokenUrl, () => client.clientCredentialsGrant(config, { scope }))
    return { ...signIn, ...tokensOf(tokens) }
  }
  const { issuer, refreshToken } = signIn
  if (refreshToken === undefined) throw signInProblem({ error: 'invalid_grant', status: 400 }, issuer)
  const config = await discover(signIn)
  const tokens = await step(issuer, () => client.refreshTokenGrant(config, refreshToken))
  return { ...signIn, ...tokensOf(tokens) }
}

/** Ends a person's sign-in at the provider, if it can. */
export async function revoke(signIn: SignIn): Promise<void> {
  if (signIn.kind !== 'person' || signIn.refreshToken === undefined) return
  const { refreshToken } = signIn
  const { tokenRevocation } = await openid()
  const config = await discover(signIn)
  if (config.serverMetadata().revocation_endpoint === undefined) return
  await step(signIn.issuer, () => tokenRevocation(config, refreshToken))
}
