import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { errors, interactionPolicy, type JWK, type KoaContextWithOIDC, Provider } from 'oidc-provider'
// @ts-expect-error: only the library's main module has types
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js'
import { CLI_CLIENT, CONSOLE_CLIENT, peopleOf, ROLES_CLAIM } from './people.ts'
import { handleSignIn, SIGN_IN_PATH } from './sign-in.ts'
import { addressesOf, DEV_AUDIENCE, DEV_SCOPE, type DevTenant, PATHS } from './tenants.ts'

/** A resource must be an absolute URI (RFC 8707, section 2). Clients may omit it. */
const RESOURCE = `urn:${DEV_AUDIENCE}`

/**
 * An OAuth 2.0 server for one tenant: client credentials for applications, the authorization code flow with PKCE for the
 * console and the command line, which can use a device code too; RS256 access tokens, discovery and keys. The returned function handles paths below the issuer.
 */
export function tenantProvider(
  baseUrl: string,
  { tenant, clientId, clientSecret }: DevTenant,
  key: JWK,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const people = peopleOf(tenant)
  const policy = interactionPolicy.base()
  // People are not asked for consent: there is only one application.
  policy.remove('consent')
  const provider = new Provider(addressesOf(baseUrl, tenant).issuer, {
    // Codes, sessions and refresh tokens are kept in memory: a restart of the provider signs everybody out.
    adapter: createMemoryAdapter(),
    jwks: { keys: [key] },
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
      CONSOLE_CLIENT,
      CLI_CLIENT,
    ],
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    scopes: ['openid', DEV_SCOPE],
    routes: PATHS,
    ttl: {
      ClientCredentials: 3_599,
      AccessToken: 3_599,
      RefreshToken: 86_400,
      Session: 86_400,
      Grant: 86_400,
      Interaction: 600,
    },
    pkce: { required: () => true },
    clientBasedCORS: () => true,
    findAccount: (_ctx, accountId) =>
      people.some(({ name }) => name === accountId) ? { accountId, claims: () => ({ sub: accountId }) } : undefined,
    extraTokenClaims: (_ctx, token) => {
      const person = 'accountId' in token ? people.find(({ name }) => name === token.accountId) : undefined
      // Applications may do everything.
      return { [ROLES_CLAIM]: [person?.role ?? 'admin'] }
    },
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    loadExistingGrant: grantEverything,
    interactions: { policy, url: (_ctx, { uid }) => `/${tenant}${SIGN_IN_PATH}${uid}` },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      deviceFlow: {
        enabled: true,
        userCodeInputSource: (ctx, form) => showForm(ctx, form, 'Enter the code'),
        userCodeConfirmSource: (ctx, form, _client, _device, code) => showForm(ctx, form, `Sign in with ${code}`),
        successSource: (ctx) => {
          ctx.body = '<!doctype html><title>Signed in</title><p>You can close this window.'
        },
      },
      userinfo: { enabled: false },
      revocation: { enabled: true },
      rpInitiatedLogout: { enabled: true, logoutSource: signOutAtOnce },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        useGrantedResource: () => true,
        getResourceServerInfo: (ctx, resource, client) => {
          if (resource !== RESOURCE) throw new errors.InvalidTarget()
          checkScope(ctx, client.clientId)
          return { scope: DEV_SCOPE, audience: DEV_AUDIENCE, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } }
        },
      },
    },
  })
  const handle = provider.callback()
  return async (request, response) => {
    if (request.url?.startsWith(SIGN_IN_PATH) === true)
      await handleSignIn(provider, { tenant, people }, request, response)
    // The provider answers every error itself.
    else await handle(request, response)
  }
}

/** Applications request one scope only, as the specification says. */
function checkScope(ctx: KoaContextWithOIDC, clientId: string): void {
  const scope = ctx.oidc.params?.['scope']
  if (clientId === CONSOLE_CLIENT.client_id || clientId === CLI_CLIENT.client_id || scope === DEV_SCOPE) return
  throw new errors.InvalidScope(`scope must be ${DEV_SCOPE}`, typeof scope === 'string' ? scope : '')
}

/** Ends the session without a question, like a provider that knows the person by the ID token. */
function signOutAtOnce(ctx: KoaContextWithOIDC, form: string): void {
  const field = '<input type="hidden" name="logout" value="yes"></form>'
  ctx.body = `<!doctype html><title>Signing out</title>${form.replace('</form>', field)}<script>document.forms[0].submit()</script>`
}

/** The forms of the provider have no button. */
function showForm(ctx: KoaContextWithOIDC, form: string, title: string): void {
  const id = /id="([^"]+)"/.exec(form)?.[1]
  ctx.body = `<!doctype html><title>${title}</title><h1>${title}</h1>${form}<button form="${id}">Continue</button>`
}

/** Grants the console and the command line what they ask for. */
async function grantEverything(ctx: KoaContextWithOIDC) {
  const { client, session, provider } = ctx.oidc
  const grantId = session?.grantIdFor(client?.clientId ?? '')
  const existing = grantId === undefined ? undefined : await provider.Grant.find(grantId)
  if (existing !== undefined) return existing
  const grant = new provider.Grant({ clientId: client?.clientId ?? '', accountId: session?.accountId ?? '' })
  grant.addOIDCScope('openid')
  grant.addResourceScope(RESOURCE, DEV_SCOPE)
  await grant.save()
  return grant
}
