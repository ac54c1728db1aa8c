import { AppError } from '@switchhook/contracts'
import { type Claims, claimOf, valuesOf } from './claims.ts'
import type { ValueOf } from './schema.ts'

/** What a caller may do. Each role includes the ones before it. */
export const ROLES = ['viewer', 'operator', 'admin'] as const

export type Role = (typeof ROLES)[number]

const values = { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } } as const

/** How the tokens of an issuer say which role their holder has. */
export type RoleMapping = ValueOf<typeof rolesSchema>

/**
 * JSON Schema 2020-12 of the member `roles` of `AUTH_ISSUERS`. `claim`: its name, or a JSON pointer (RFC 6901) into the
 * claims, such as `/realm_access/roles`.
 */
export const rolesSchema = {
  type: 'object',
  required: ['claim'],
  properties: { claim: { type: 'string', minLength: 1 }, viewer: values, operator: values, admin: values },
  additionalProperties: false,
  // A claim and one of the roles. Without any, every request would be refused.
  minProperties: 2,
} as const

/** The role that includes every other one; a caller has it if roles are not configured. */
export const EVERY_ROLE: Role = 'admin'

/**
 * The highest role that a token gives.
 * @param claims of a verified token
 * @returns null: the token gives no role
 */
export function roleOf(claims: Claims, mapping: RoleMapping | undefined): Role | null {
  if (mapping === undefined) return EVERY_ROLE
  const given = valuesOf(claimOf(claims, mapping.claim))
  return ROLES.findLast((role) => mapping[role]?.some((value) => given.has(value)) === true) ?? null
}

/** The role and every role that it includes, the least first. */
export const rolesIn = (role: Role | null): readonly Role[] =>
  role === null ? [] : ROLES.slice(0, ROLES.indexOf(role) + 1)

/**
 * Refuses a caller whose role does not include the needed one.
 * @param needed absent: the route names no role, so only the highest one will do
 * @throws AppError `forbidden`, which names the needed role
 */
export function requireRole(role: Role | null, needed: Role = EVERY_ROLE): void {
  if (rolesIn(role).includes(needed)) return
  const held = role === null ? 'your token gives no role' : `your token gives the role ${role}`
  throw new AppError('forbidden', { detail: `This operation needs the role ${needed}; ${held}.`, requiredRole: needed })
}
