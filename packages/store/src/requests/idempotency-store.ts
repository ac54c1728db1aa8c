import { randomUUID } from 'node:crypto'
import { isNotExecuted, Unavailable } from '@switchhook/contracts'
import { idempotentKey, idempotentListKey } from '../keys.ts'
import { execute, pipeline, type Redis, runScript } from '../redis/redis.ts'
import { createReleaseQueue } from './release-queue.ts'

/** The right to execute one request. A claim that was taken over can neither finish nor release the request. */
export interface IdempotencyClaim {
  readonly scope: string
  readonly token: string
  /** A GUID that the first claim draws and later claims reuse, so that ids derived from it stay the same. */
  readonly seed: string
  /** An earlier claim was neither answered nor forgotten, so its run may have taken effect. */
  readonly isRerun: boolean
}

/** New (or left behind by a dead process), answered before, used with another body, or being executed. */
export type IdempotencyBegun =
  | { readonly kind: 'new'; readonly claim: IdempotencyClaim }
  | { readonly kind: 'replay'; readonly answer: unknown }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'busy' }

export interface IdempotencyTimes {
  /** A claim that is neither finished nor released, because its process died, can be taken over after this time. */
  readonly leaseMs: number
  /** How long a request is remembered after its last claim, and then after its answer. */
  readonly retentionMs: number
}

export interface IdempotencyLimit {
  /** The newest requests of a client that are remembered. */
  readonly requestsPerClient: number
  /** Of all clients of a tenant together. Absent: any number. */
  readonly requestsPerTenant?: number
  /** Called with the number of requests that were forgotten early because of the limit. */
  readonly forgotten: (count: number) => void
}

/** How far a list may exceed the limit, so that only one in many requests pays for forgetting. */
const SLACK_SHARE = 0.01

export type IdempotencyStore = ReturnType<typeof createIdempotencyStore>

/**
 * Remembers requests with an idempotency key and their answers. Without Redis it rejects with Unavailable.
 * @param limit absent: requests are forgotten only by age
 */
export function createIdempotencyStore(
  redis: Redis,
  { leaseMs, retentionMs }: IdempotencyTimes,
  limit?: IdempotencyLimit,
) {
  /** Resolves to whether there was memory to list the request, and to the scopes beyond the limit. */
  async function list(scope: string, owner: string, most: number): Promise<{ isListed: boolean; excess: string[] }> {
    const args = [scope, most, Math.floor(most * SLACK_SHARE), retentionMs]
    const [listed, ...excess] = await runScript(redis, 'requests/list-request', [idempotentListKey(owner)], args)
    return { isListed: listed === 1, excess }
  }

  async function forget(owner: string, scopes: readonly string[]): Promise<void> {
    const results = await pipeline(redis, (commands) =>
      scopes.map((scope) => commands.runScript('requests/forget-request', [idempotentKey(scope)], [])),
    )
    const over = scopes.filter((_, i) => results[i] === 1)
    if (over.length === 0) return
    // Unlist them last: after a crash before this, the next request forgets them again.
    const removed = await redis[execute]((commands) => commands.zrem(idempotentListKey(owner), ...over))
    limit?.forgotten(removed)
  }

  const release = createReleaseQueue(
    ({ scope, token }) => runScript(redis, 'requests/finish-request', [idempotentKey(scope)], [token]),
    leaseMs,
  )

  return {
    /**
     * @param scope identifies the request; no other client must be able to choose the same
     * @param fingerprint must be the same in every repeat of the request
     * @param client, tenant a hash of each; absent: the request does not count towards its limit
     */
    async begin(scope: string, fingerprint: string, client?: string, tenant?: string): Promise<IdempotencyBegun> {
      const token = randomUUID()
      const newSeed = randomUUID()
      const args = [fingerprint, token, newSeed, leaseMs, retentionMs]
      const limits = [
        [client, limit?.requestsPerClient],
        [tenant, limit?.requestsPerTenant],
      ] as const
      const owners = limits.flatMap(([owner, most]) =>
        owner === undefined || most === undefined ? [] : [{ owner, most }],
      )
      // All in one round trip. If one fails, the request is not executed.
      const [begun, ...listed] = await Promise.allSettled([
        runScript(redis, 'requests/begin-request', [idempotentKey(scope)], args),
        ...owners.map(({ owner, most }) => list(scope, owner, most)),
      ])
      const unlisted = listed.find((one) => one.status === 'rejected')
      const isAnswered = unlisted === undefined && begun.status === 'fulfilled'
      const hasNoClaim = begun.status === 'rejected' && isNotExecuted(begun.reason)
      if (!isAnswered && !hasNoClaim) void release({ scope, token })
      if (unlisted !== undefined) throw unlisted.reason
      const lists = listed.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      // Runs even if a full Redis has refused the request, because it frees memory. Failures are ignored: the next request
      // tries again.
      for (const [i, { owner }] of owners.entries()) {
        const excess = lists[i]?.excess ?? []
        if (excess.length > 0) await forget(owner, excess).catch(() => {})
      }
      if (begun.status === 'rejected') throw begun.reason
      const [kind, value] = begun.value
      if (kind === 'new' && !lists.every(({ isListed }) => isListed)) {
        // In a cluster the node with the list may be full. An unlisted request would not count towards the limit.
        await release({ scope, token })
        throw new Unavailable('redis', 'Redis has no memory for an idempotency key')
      }
      if (kind === 'new') return { kind, claim: { scope, token, seed: value, isRerun: value !== newSeed } }
      if (kind === 'replay') return { kind, answer: JSON.parse(value) as unknown }
      return { kind }
    },
    /** Stores the answer, any JSON value. Resolves to false if the claim was taken over. */
    async finish({ scope, token }: IdempotencyClaim, answer: unknown): Promise<boolean> {
      const args = [token, JSON.stringify(answer), retentionMs]
      const kept = await runScript(redis, 'requests/finish-request', [idempotentKey(scope)], args)
      return kept === 1
    },
    /**
     * Gives up the claim immediately. The fingerprint and the seed are kept. Without Redis it resolves nevertheless, and the
     * claim is given up soon after Redis answers, unless very many are waiting for that or Redis refuses: then the lease
     * ends.
     */
    release: (claim: IdempotencyClaim): Promise<void> => release(claim),
  }
}
