import { randomUUID } from 'node:crypto'
import { idempotentKey } from './keys.ts'
import { type Redis, run } from './redis.ts'

/** The right to carry out one request. Whoever does not hold it any more can neither finish nor release it. */
export interface IdempotencyClaim {
  readonly scope: string
  readonly token: string
  /** A GUID, drawn by the first claim and the same for every later one: what it derives comes out the same again. */
  readonly seed: string
}

/** What `begin` found: nobody's yet (or left behind), answered, asked with another body, or in somebody else's hands. */
export type IdempotencyBegun =
  | { readonly kind: 'new'; readonly claim: IdempotencyClaim }
  | { readonly kind: 'replay'; readonly answer: unknown }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'busy' }

/** Which requests were carried out, and what they were answered. Rejects with Unavailable without Redis. */
export interface IdempotencyStore {
  /**
   * @param scope which request: callers choose names that nobody else can choose
   * @param fingerprint what must be the same whenever the request comes again
   */
  begin(scope: string, fingerprint: string): Promise<IdempotencyBegun>
  /** Keeps the answer, which is anything that JSON can say. Resolves to false if the claim has passed to another. */
  finish(claim: IdempotencyClaim, answer: unknown): Promise<boolean>
  /** Gives the claim back at once. The fingerprint and the seed stay. */
  release(claim: IdempotencyClaim): Promise<void>
}

export interface IdempotencyTimes {
  /** A claim that is neither finished nor released (the process died) can be taken over after so long. */
  readonly leaseMs: number
  /** How long a request is remembered, from its last claim and then from its answer on. */
  readonly retentionMs: number
}

export function createIdempotencyStore(redis: Redis, { leaseMs, retentionMs }: IdempotencyTimes): IdempotencyStore {
  return {
    async begin(scope, fingerprint) {
      const token = randomUUID()
      const args = [fingerprint, token, randomUUID(), leaseMs, retentionMs]
      const [kind, value] = await redis[run]((commands) =>
        commands.runScript('begin-idempotent', [idempotentKey(scope)], args),
      )
      if (kind === 'new') return { kind, claim: { scope, token, seed: value } }
      if (kind === 'replay') return { kind, answer: JSON.parse(value) as unknown }
      return { kind }
    },
    async finish({ scope, token }, answer) {
      const args = [token, JSON.stringify(answer), retentionMs]
      const kept = await redis[run]((commands) => commands.runScript('finish-idempotent', [idempotentKey(scope)], args))
      return kept === 1
    },
    async release({ scope, token }) {
      await redis[run]((commands) => commands.runScript('release-idempotent', [idempotentKey(scope)], [token]))
    },
  }
}
