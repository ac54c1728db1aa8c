import type { Tenant } from '@switchhook/contracts'
import { type RoleMapping, rolesSchema } from '../role.ts'

/** An identity provider whose tokens are accepted, as configured in `AUTH_ISSUERS`. */
export interface Issuer {
  /** Compared with the token's `iss`, character by character. */
  readonly issuer: string
  /** Must be one of the token's `aud`. */
  readonly audience: string
  /** Tenant of the callers with its tokens; null: the installation itself. */
  readonly tenant: Tenant
  /** URL of its signing keys; absent: found by discovery. */
  readonly jwksUri?: string
  /** Absent: every caller is an admin. */
  readonly roles?: RoleMapping
  /** Lets people of this issuer sign in to the console; absent: they cannot. */
  readonly console?: ConsoleClient
  /** Lets people of this issuer sign in to the command line; absent: they cannot. */
  readonly cli?: PublicClient
}

/** A registration with an issuer: a public client for the authorization code flow with PKCE. */
interface PublicClient {
  readonly clientId: string
  /** Must lead to a token with the issuer's `audience`. */
  readonly scope: string
}

interface ConsoleClient extends PublicClient {
  /** Further origins that the browser calls, such as that of the token endpoint, if they differ from the issuer's. */
  readonly origins?: readonly string[]
}

/** The parts of an issuer that name a client for people. */
export type SignInClient = 'console' | 'cli'

const httpUrl = { type: 'string', format: 'uri', pattern: '^https?://' } as const

const publicClient = {
  type: 'object',
  required: ['clientId', 'scope'],
  properties: { clientId: { type: 'string', minLength: 1 }, scope: { type: 'string', minLength: 1 } },
  additionalProperties: false,
} as const

/** JSON Schema 2020-12 of `AUTH_ISSUERS`. */
export const issuersSchema = {
  type: 'array',
  items: {
    type: 'object',
    required: ['issuer', 'audience', 'tenant'],
    properties: {
      issuer: httpUrl,
      audience: { type: 'string', minLength: 1 },
      tenant: { type: ['string', 'null'], minLength: 1, maxLength: 128 },
      jwksUri: httpUrl,
      roles: rolesSchema,
      cli: publicClient,
      console: {
        ...publicClient,
        properties: {
          ...publicClient.properties,
          origins: { type: 'array', items: httpUrl, maxItems: 10 },
        },
      },
    },
    additionalProperties: false,
  },
} as const
