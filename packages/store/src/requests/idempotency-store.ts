import { randomUUID } from 'node:crypto'
import { Unavailable } from '@switchhook/contracts'
import { idempotentKey, idempotentListKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'

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
   * @param client a hash of who sends it; absent: the request does not count towards a limit
   */
  begin(scope: string, fingerprint: string, client?: string): Promise<IdempotencyBegun>
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

export interface IdempotencyLimit {
  /** How many requests of one client are remembered, the newest ones. */
  readonly requestsPerClient: number
  /** Is told how many requests were forgotten before their time. */
  readonly forgotten: (count: number) => void
}

/** So many more than the limit may gather, that forgetting them costs a small share of the requests. */
const SLACK_SHARE = 0.01

/** @param limit absent: requests are forgotten by their age alone */
export function createIdempotencyStore(
  redis: Redis,
  { leaseMs, retentionMs }: IdempotencyTimes,
  limit?: IdempotencyLimit,
): IdempotencyStore {
  /** Resolves to whether there was room to list the request, and to the scopes that are beyond the limit. */
  async function list(scope: string, client: string | undefined): Promise<{ isListed: boolean; excess: string[] }> {
    if (limit === undefined || client === undefined) return { isListed: true, excess: [] }
    const { requestsPerClient } = limit
    const args = [scope, requestsPerClient, Math.floor(requestsPerClient * SLACK_SHARE), retentionMs]
    const [listed, ...excess] = await redis[run]((commands) =>
      commands.runScript('requests/list-request', [idempotentListKey(client)], args),
    )
    return { isListed: listed === 1, excess }
  }

  async function forget(client: string, scopes: readonly string[]): Promise<void> {
    const results = await redis[run]((commands) =>
      Promise.all(scopes.map((scope) => commands.runScript('requests/forget-request', [idempotentKey(scope)], []))),
    )
    const over = scopes.filter((_, i) => results[i] === 1)
    if (over.length === 0) return
    // Last: a crash before it leaves them listed, and the next request forgets them again.
    const removed = await redis[run]((commands) => commands.zrem(idempotentListKey(client), ...over))
    limit?.forgotten(removed)
  }

  async function release({ scope, token }: Pick<IdempotencyClaim, 'scope' | 'token'>): Promise<void> {
    await redis[run]((commands) => commands.runScript('requests/release-request', [idempotentKey(scope)], [token]))
  }

  return {
    async begin(scope, fingerprint, client) {
      const token = randomUUID()
      const args = [fingerprint, token, randomUUID(), leaseMs, retentionMs]
      // Sent together, in one round trip. If either fails the request is not carried out; a claim lapses with its lease.
      const [listed, begun] = await Promise.allSettled([
        list(scope, client),
        redis[run]((commands) => commands.runScript('requests/begin-request', [idempotentKey(scope)], args)),
      ])
      if (listed.status === 'rejected') throw listed.reason
      const { isListed, excess } = listed.value
      // Even if Redis is full and has refused the request, because it frees memory. The next request tries again what
      // fails here, so it does not concern this one.
      if (client !== undefined && excess.length > 0) await forget(client, excess).catch(() => {})
      if (begun.status === 'rejected') throw begun.reason
      const [kind, value] = begun.value
      if (kind === 'new' && !isListed) {
        // In a cluster another node may be full. A request that is not listed would not count towards the limit.
        await release({ scope, token }).catch(() => {})
        throw new Unavailable('redis', 'Redis has no memory for an idempotency key')
      }
      if (kind === 'new') return { kind, claim: { scope, token, seed: value } }
      if (kind === 'replay') return { kind, answer: JSON.parse(value) as unknown }
      return { kind }
    },
    async finish({ scope, token }, answer) {
      const args = [token, JSON.stringify(answer), retentionMs]
      const kept = await redis[run]((commands) =>
        commands.runScript('requests/finish-request', [idempotentKey(scope)], args),
      )
      return kept === 1
    },
    release,
  }
}
