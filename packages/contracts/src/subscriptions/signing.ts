import { objectSchema } from '../errors/validator.ts'
import type { ValueOf } from '../events/schema-parts.ts'

/** Each previous secret adds a signature to the header, and receivers try them one by one. */
export const MAX_FORMER_SECRETS = 4

/** JSON Schema 2020-12. A delivery that waits for its retry carries its secrets. Times are ISO 8601, UTC. */
export const signingSchema = objectSchema({
  /** Of the current secret; makes a repeated rotation recognisable. */
  id: { type: 'string', format: 'uuid' },
  secret: { type: 'string' },
  since: { type: 'string' },
  /** Previous secrets that still sign, newest first. */
  former: { type: 'array', items: objectSchema({ secret: { type: 'string' }, until: { type: 'string' } }) },
})

/** Sealed with the installation's key. A subscription without them was created before signatures existed. */
export type Signing = ValueOf<typeof signingSchema>

export const formerSecretsAt = ({ former }: Signing, nowMs: number): Signing['former'] =>
  former.filter(({ until }) => Date.parse(until) > nowMs)

/** When the last previous secret expires; null: none signs any longer. */
export function formerValidUntil(signing: Signing, nowMs: number): string | null {
  const untils = formerSecretsAt(signing, nowMs).map(({ until }) => until)
  return untils.toSorted().at(-1) ?? null
}

/** No previous secret signs for longer than `overlapMs` from now; with 0 only the new secret signs. */
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
