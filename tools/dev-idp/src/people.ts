import type { ClientMetadata } from 'oidc-provider'

/** A person who can sign in to the console and the command line. The password is the name. */
export interface DevPerson {
  readonly name: string
  /** Value of the claim `roles`. */
  readonly role: 'viewer' | 'operator' | 'admin'
}

/** Acme has people of each role; every other tenant has an admin. */
export const peopleOf = (tenant: string): readonly DevPerson[] =>
  (tenant === 'acme' ? (['viewer', 'operator', 'admin'] as const) : (['admin'] as const)).map((role) => ({
    name: `${tenant}-${role}`,
    role,
  }))

/** Claim of the access tokens that holds the person's role. */
export const ROLES_CLAIM = 'roles'

/** How the api reads the roles: the member `roles` of an entry of `AUTH_ISSUERS`. */
export const DEV_ROLES = { claim: ROLES_CLAIM, viewer: ['viewer'], operator: ['operator'], admin: ['admin'] }

export const CONSOLE_CLIENT_ID = 'console'
export const CLI_CLIENT_ID = 'cli'

const CONSOLE_ADDRESSES = ['127.0.0.1', 'localhost', '[::1]'].flatMap((host) => [
  `http://${host}/console/`,
  // Behind a proxy that serves the installation below a prefix.
  `http://${host}/switchhook/console/`,
])

/** A public client on this machine, with a loopback address of any port (RFC 8252, section 7.3). */
const PUBLIC_CLIENT = {
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  response_types: ['code'],
} as const

export const CONSOLE_CLIENT: ClientMetadata = {
  ...PUBLIC_CLIENT,
  client_id: CONSOLE_CLIENT_ID,
  grant_types: ['authorization_code', 'refresh_token'],
  redirect_uris: CONSOLE_ADDRESSES,
  post_logout_redirect_uris: CONSOLE_ADDRESSES,
}

export const CLI_CLIENT: ClientMetadata = {
  ...PUBLIC_CLIENT,
  client_id: CLI_CLIENT_ID,
  grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
  redirect_uris: ['http://localhost/'],
}
