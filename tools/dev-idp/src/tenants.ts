export interface DevTenant {
  readonly tenant: string
  readonly clientId: string
  readonly clientSecret: string
}

/** Who may ask for a token. Not secrets: everybody can read them here, which is why this provider is for development. */
export const DEV_TENANTS: readonly [DevTenant, ...DevTenant[]] = [
  { tenant: 'acme', clientId: 'acme-app', clientSecret: 'acme-secret' },
  { tenant: 'globex', clientId: 'globex-app', clientSecret: 'globex-secret' },
]

/** What a token is for, and the one scope that gets it. */
export const DEV_AUDIENCE = 'switchhook'
export const DEV_SCOPE = 'switchhook/.default'

/** Below the tenant's issuer. The token path is the specification's (Authentication, 3). */
export const PATHS = { token: '/oauth2/v2.0/token', jwks: '/discovery/v2.0/keys' }

/** Where a tenant's tokens come from, and how a service checks them. */
export function addressesOf(baseUrl: string, tenant: string): { issuer: string; tokenUrl: string; jwksUri: string } {
  const issuer = `${baseUrl}/${tenant}`
  return { issuer, tokenUrl: `${issuer}${PATHS.token}`, jwksUri: `${issuer}${PATHS.jwks}` }
}
