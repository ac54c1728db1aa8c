import { randomBytes } from 'node:crypto'
import { errors, type JWK, Provider } from 'oidc-provider'
import { keepsNothing } from './keeps-nothing.ts'
import { addressesOf, DEV_AUDIENCE, DEV_SCOPE, type DevTenant, PATHS } from './tenants.ts'

/** A resource is named by an absolute URI (RFC 8707, section 2); clients need not name it. */
const RESOURCE = `urn:${DEV_AUDIENCE}`

/** An OAuth 2.0 server for one tenant: client credentials only, RS256 access tokens, discovery and keys. */
export function tenantProvider(baseUrl: string, { tenant, clientId, clientSecret }: DevTenant, key: JWK): Provider {
  return new Provider(addressesOf(baseUrl, tenant).issuer, {
    adapter: keepsNothing,
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
    // Nobody logs in here, so no cookie is ever set; the library wants keys all the same.
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
