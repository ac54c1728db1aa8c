import { rolesSchema } from '../role.ts'
import type { ValueOf } from '../schema.ts'

/** An identity provider whose tokens are accepted, as configured in `AUTH_ISSUERS`. */
export type Issuer = ValueOf<typeof issuersSchema>[number]

/** The parts of an issuer that name a client for people. */
export type SignInClient = 'console' | 'cli'

const httpUrl = { type: 'string', format: 'uri', pattern: '^https?://' } as const

/** A registration with an issuer: a public client for the authorization code flow with PKCE. */
const publicClient = {
  type: 'object',
  required: ['clientId', 'scope'],
  properties: {
    clientId: { type: 'string', minLength: 1 },
    // Must lead to a token with the issuer's `audience`.
    scope: { type: 'string', minLength: 1 },
  },
  additionalProperties: false,
} as const

/** JSON Schema 2020-12 of `AUTH_ISSUERS`. */
export const issuersSchema = {
  type: 'array',
  items: {
    type: 'object',
    required: ['issuer', 'audience', 'tenant'],
    properties: {
      // Compared with the token's `iss`, character by character.
      issuer: httpUrl,
      // Must be one of the token's `aud`, or of the values of `audienceClaim`.
      audience: { type: 'string', minLength: 1 },
      // Of a provider whose access tokens have no `aud`: its name, or a JSON pointer.
      audienceClaim: { type: 'string', minLength: 1 },
      // The first of these claims names the client; absent: those of the usual providers.
      clientIdClaims: { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } },
      // Of the callers with its tokens; null: the installation itself.
      tenant: { type: ['string', 'null'], minLength: 1, maxLength: 128 },
      // Of its signing keys; absent: found by discovery.
      jwksUri: httpUrl,
      // Absent: every caller is an admin.
      roles: rolesSchema,
      // Let people of this issuer sign in to the command line, and to the console; absent: they cannot.
      cli: publicClient,
      console: {
        ...publicClient,
        properties: {
          ...publicClient.properties,
          // That the browser calls besides the issuer's own, such as that of the token endpoint.
          origins: { type: 'array', items: httpUrl, maxItems: 10 },
        },
      },
    },
    additionalProperties: false,
  },
} as const
