import { createClient, type Schemas, SwitchhookError } from '@switchhook/client'
import type { Configuration, TokenEndpointResponse } from 'openid-client'
import { CliError, Exit, usage } from '../failure.ts'
import { openCallback } from './browser.ts'
import { type Life, lifeOf } from './lifetime.ts'
import type { SignIn } from './profiles.ts'
import { isInTrouble, signInProblem } from './sign-in-problem.ts'

/** Loaded at need: most commands have a valid token. */
const openid = () => import('openid-client')

export type Provider = Omit<Schemas['SignInOffer']['issuers'][number], 'name'>

/** Lifetime of a token whose answer does not tell it. */
const DEFAULT_LIFETIME_SECONDS = 300
/** Between two questions whether the person has signed in. After a failure it doubles (RFC 8628, section 3.5). */
const DEVICE_INTERVAL_SECONDS = 5
const MAX_DEVICE_INTERVAL_SECONDS = 60

type Tokens = Pick<SignIn, 'accessToken' | keyof Life> & { readonly refreshToken?: string }

const tokensOf = ({ access_token, expires_in, refresh_token }: TokenEndpointResponse): Tokens => ({
  accessToken: access_token,
  ...lifeOf(expires_in ?? DEFAULT_LIFETIME_SECONDS),
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

export async function withDevice(provider: Provider, show: (address: string, code: string) => void): Promise<SignIn> {
  const { initiateDeviceAuthorization, pollDeviceAuthorizationGrant } = await openid()
  const config = await discover(provider)
  const begun = await step(provider.issuer, () => initiateDeviceAuthorization(config, { scope: provider.scope }))
  show(begun.verification_uri_complete ?? begun.verification_uri, begun.user_code)
  const endsAtMs = Date.now() + begun.expires_in * 1_000
  const firstSeconds = begun.interval ?? DEVICE_INTERVAL_SECONDS
  for (let failures = 0; ; failures++) {
    const interval = Math.max(firstSeconds, Math.min(firstSeconds * 2 ** failures, MAX_DEVICE_INTERVAL_SECONDS))
    // A second more, so that the library does not give up before the code has expired.
    const expiresIn = Math.ceil((endsAtMs - Date.now()) / 1_000) + 1
    try {
      const tokens = await pollDeviceAuthorizationGrant(config, { ...begun, interval, expires_in: expiresIn })
      return { kind: 'person', ...provider, ...tokensOf(tokens) }
    } catch (error) {
      if (Date.now() >= endsAtMs) throw signInProblem({ error: 'expired_token' }, provider.issuer)
      // The person is entering the code meanwhile: a moment without the provider must not make it useless.
      if (!isInTrouble(error)) throw signInProblem(error, provider.issuer)
    }
  }
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

export type SignInOffer = Schemas['SignInOffer']

/** What an installation offers to people. @throws CliError if it is older than this command, or does not know the organization */
export async function readOffer(url: string, organization: string | undefined): Promise<SignInOffer> {
  try {
    return await createClient({ baseUrl: url }).me.signIn(organization === undefined ? {} : { organization })
  } catch (error) {
    if (!(error instanceof SwitchhookError) || error.status !== 404) throw error
    throw organization === undefined
      ? new CliError(
          Exit.notFound,
          `${url} is older than this command and offers no sign-in: use --client-id, --token-url and --scope, or set SWITCHHOOK_TOKEN.`,
        )
      : new CliError(Exit.notFound, `No organization ${organization} signs in at ${url}. Check its spelling.`)
  }
}

/** The identity provider to use. @throws CliError if the offer leaves it open */
export function chosenIn({ issuers, asksOrganization }: SignInOffer, organization: string | undefined): Provider {
  const matching =
    organization === undefined || issuers.length < 2
      ? issuers
      : issuers.filter(({ name }) => name?.toLowerCase() === organization.trim().toLowerCase())
  const [found, second] = matching
  if (found !== undefined && second === undefined) {
    const { issuer, clientId, scope } = found
    return { issuer, clientId, scope }
  }
  const names = issuers.flatMap(({ name }) => name ?? [])
  if (asksOrganization || second !== undefined || names.length > 0) {
    throw usage(`Name your organization: --organization <name>${names.length > 0 ? ` (${names.join(', ')})` : ''}.`)
  }
  throw new CliError(
    Exit.signIn,
    'This installation has no sign-in for people: use --client-id, --token-url and --scope, or ask its operator for "cli" in AUTH_ISSUERS.',
  )
}

const FOR_PEOPLE = new Set(['openid', 'profile', 'email', 'offline_access'])

/** Applications request the API alone. */
export const applicationScope = (scope: string): string =>
  scope
    .split(' ')
    .filter((one) => !FOR_PEOPLE.has(one))
    .join(' ')
