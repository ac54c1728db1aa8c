import { randomBytes } from 'node:crypto'
import { type Adapter, errors, type JWK, Provider } from 'oidc-provider'
import { addressesOf, DEV_AUDIENCE, DEV_SCOPE, type DevTenant, PATHS } from './tenants.ts'

/** A resource must be an absolute URI (RFC 8707, section 2). Clients may omit it. */
const RESOURCE = `urn:${DEV_AUDIENCE}`

/** An OAuth 2.0 server for one tenant: client credentials only, RS256 access tokens, discovery and keys. */
export function tenantProvider(baseUrl: string, { tenant, clientId, clientSecret }: DevTenant, key: JWK): Provider {
  return new Provider(addressesOf(baseUrl, tenant).issuer, {
    adapter: emptyStorage,
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
    ],
    // The library requires cookie keys, although no user ever logs in.
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    scopes: [DEV_SCOPE],
    routes: PATHS,
    ttl: { ClientCredentials: 3_599 },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        getResourceServerInfo: (ctx, resource) => {
          if (resource !== RESOURCE) throw new errors.InvalidTarget()
          const scope = ctx.oidc.params?.['scope']
          if (scope !== DEV_SCOPE)
            throw new errors.InvalidScope(`scope must be ${DEV_SCOPE}`, typeof scope === 'string' ? scope : '')
          return { scope: DEV_SCOPE, audience: DEV_AUDIENCE, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } }
        },
      },
    },
  })
}

/** The provider stores nothing: its clients are fixed, and its access tokens are self-contained. */
const emptyStorage = (): Adapter => ({
  upsert: nothing,
  find: nothing,
  findByUserCode: nothing,
  findByUid: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
})

const nothing = async (): Promise<undefined> => undefined
