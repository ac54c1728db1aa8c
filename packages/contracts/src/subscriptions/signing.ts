import { objectSchema } from '../errors/validator.ts'

/**
 * Signing secrets of a subscription. Every secret is encrypted with the installation's key. A subscription without them
 * was created before signatures existed and has not been given a secret yet.
 */
export interface Signing {
  /** Id of the current secret; makes a repeated rotation recognisable. */
  readonly id: string
  readonly secret: string
  readonly since: string
  /** Previous secrets that still sign, newest first. */
  readonly former: readonly FormerSecret[]
}

export interface FormerSecret {
  readonly secret: string
  /** ISO 8601, UTC. */
  readonly until: string
}

/** Each previous secret adds a signature to the header, and receivers try them one by one. */
export const MAX_FORMER_SECRETS = 4

/** JSON Schema 2020-12. A delivery that waits for its retry carries its secrets. */
export const signingSchema = objectSchema({
  id: { type: 'string', format: 'uuid' },
  secret: { type: 'string' },
  since: { type: 'string' },
  former: { type: 'array', items: objectSchema({ secret: { type: 'string' }, until: { type: 'string' } }) },
})

export const formerSecretsAt = ({ former }: Signing, nowMs: number): readonly FormerSecret[] =>
  former.filter(({ until }) => Date.parse(until) > nowMs)

/** When the last previous secret expires; null: none signs any longer. */
export function formerValidUntil(signing: Signing, nowMs: number): string | null {
  const untils = formerSecretsAt(signing, nowMs).map(({ until }) => until)
  return untils.toSorted().at(-1) ?? null
}

/**
 * Replaces the current secret. No previous secret, from this or an earlier rotation, signs for longer than `overlapMs` from
 * now; with 0 only the new secret signs.
 */
export function rotateSecret(
  present: Signing | undefined,
  next: Pick<Signing, 'id' | 'secret'>,
  nowMs: number,
  overlapMs: number,
): Signing {
  const since = new Date(nowMs).toISOString()
  if (present === undefined) return { ...next, since, former: [] }
  const latest = new Date(nowMs + overlapMs).toISOString()
  const former = [{ secret: present.secret, until: latest }, ...present.former]
    .map(({ secret, until }) => ({ secret, until: until < latest ? until : latest }))
    .filter(({ until }) => until > since)
  return { ...next, since, former }
}
