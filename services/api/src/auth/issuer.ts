import { type RoleMapping, rolesSchema } from './role.ts'

/** An identity provider whose tokens are accepted, as configured in `AUTH_ISSUERS`. */
export interface Issuer {
  /** Compared with the token's `iss`, character by character. */
  readonly issuer: string
  /** Must be one of the token's `aud`. */
  readonly audience: string
  /** Tenant of the callers with its tokens; null: the installation itself. */
  readonly tenant: string | null
  /** URL of its signing keys; absent: found by discovery. */
  readonly jwksUri?: string
  /** Absent: every caller is an admin. */
  readonly roles?: RoleMapping
}

const httpUrl = { type: 'string', format: 'uri', pattern: '^https?://' } as const

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
    },
    additionalProperties: false,
  },
} as const
