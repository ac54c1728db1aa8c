/** The header or the payload of a token. */
export type Claims = Readonly<Record<string, unknown>>

/** @param name of the claim, or a JSON pointer (RFC 6901) into the claims, such as `/realm_access/roles` */
export function claimOf(claims: Claims, name: string): unknown {
  // A claim can have any name, and a name in a pointer can have a slash or a tilde as `~1` or `~0`.
  if (!name.startsWith('/') || Object.hasOwn(claims, name)) return ownMember(claims, name)
  const steps = name.slice(1).split('/')
  return steps.reduce<unknown>((at, step) => ownMember(at, step.replaceAll('~1', '/').replaceAll('~0', '~')), claims)
}

/** The values of a string, of an array, or of a string with spaces between them, as in `scope`. */
export function valuesOf(claim: unknown): ReadonlySet<unknown> {
  if (typeof claim === 'string') return new Set([claim, ...claim.split(' ')])
  return new Set(Array.isArray(claim) ? claim : [])
}

const ownMember = (at: unknown, name: string): unknown =>
  typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Claims)[name] : undefined
