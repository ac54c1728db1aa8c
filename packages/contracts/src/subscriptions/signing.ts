/**
 * What a subscription's deliveries are signed with. Every secret in it is sealed: to read one takes the installation's key.
 * A subscription without it was made before there were signatures, and has not been given a secret yet.
 */
export interface Signing {
  /** Of the present secret: a rotation that is carried out once more finds that it was carried out. */
  readonly id: string
  readonly secret: string
  /** ISO 8601, UTC: when the present secret was made. */
  readonly since: string
  /** Secrets before it that sign as well until their time is over, the newest first. */
  readonly former: readonly FormerSecret[]
}

export interface FormerSecret {
  readonly secret: string
  /** ISO 8601, UTC. */
  readonly until: string
}

/** Each makes the signature header longer, and receivers try one after the other. */
export const MOST_FORMER_SECRETS = 4

/** JSON Schema 2020-12: it travels with a delivery that waits for its retry. */
export const signingSchema = {
  type: 'object',
  required: ['id', 'secret', 'since', 'former'],
  properties: {
    id: { type: 'string', format: 'uuid' },
    secret: { type: 'string' },
    since: { type: 'string' },
    former: {
      type: 'array',
      items: {
        type: 'object',
        required: ['secret', 'until'],
        properties: { secret: { type: 'string' }, until: { type: 'string' } },
      },
    },
  },
} as const

/** What signs at this time beside the present secret. */
export const formerSecretsAt = ({ former }: Signing, nowMs: number): readonly FormerSecret[] =>
  former.filter(({ until }) => Date.parse(until) > nowMs)

/** Until when any former secret signs; null: none does any more. */
export function formerValidUntil(signing: Signing, nowMs: number): string | null {
  const untils = formerSecretsAt(signing, nowMs).map(({ until }) => until)
  return untils.toSorted().at(-1) ?? null
}

/**
 * Puts a new secret in the place of the present one. None of the former ones signs for longer than `overlapMs` from now,
 * those of earlier rotations included, so that 0 leaves the new one alone.
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
