export interface DevTenant {
  readonly tenant: string
  readonly clientId: string
  readonly clientSecret: string
}

/** The client of a tenant. Its secret is public: this provider is for development only. */
export const devTenant = (tenant: string): DevTenant => ({
  tenant,
  clientId: `${tenant}-app`,
  clientSecret: `${tenant}-secret`,
})

export const DEV_TENANTS = [devTenant('acme'), devTenant('globex')] as const

/** The named tenants and `further` numbered ones: `tenant-1` and so on. */
export const devTenants = (further: number): readonly DevTenant[] => [
  ...DEV_TENANTS,
  ...Array.from({ length: further }, (_, n) => devTenant(`tenant-${n + 1}`)),
]

/** Audience and scope of the tokens. */
export const DEV_AUDIENCE = 'switchhook'
export const DEV_SCOPE = 'switchhook/.default'

/** What the console and the command line ask for. */
export const DEV_PERSON_SCOPE = `openid ${DEV_SCOPE}`

/** Paths below the tenant's issuer. The specification sets the token path (Authentication, 3). */
export const PATHS = { token: '/oauth2/v2.0/token', jwks: '/discovery/v2.0/keys' }

/** The addresses at which clients get tokens and services get keys. */
export function addressesOf(baseUrl: string, tenant: string): { issuer: string; tokenUrl: string; jwksUri: string } {
  const issuer = `${baseUrl}/${tenant}`
  return { issuer, tokenUrl: `${issuer}${PATHS.token}`, jwksUri: `${issuer}${PATHS.jwks}` }
}

/** Gets an access token of a client by its credentials (specification, Authentication, 3 and 4). */
export async function requestToken(baseUrl: string, { tenant, clientId, clientSecret }: DevTenant): Promise<string> {
  const response = await fetch(addressesOf(baseUrl, tenant).tokenUrl, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      scope: DEV_SCOPE,
    }),
  })
  const { access_token: token, token_type: type } = (await response.json()) as Record<string, string>
  if (token === undefined || type !== 'Bearer')
    throw new Error(`${baseUrl} gave ${clientId} no token: ${response.status}`)
  return token
}
