import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs } from '@switchhook/runtime'
import { RedisRefusal } from '../redis/redis.ts'

interface OpenClaim {
  readonly scope: string
  readonly token: string
}

const FIRST_WAIT_MS = 500
/** Much shorter than a lease, so that claims become free soon after Redis answers again. */
const MAX_WAIT_MS = 2_000
/** A few MB. Each request that fails while Redis is slow can leave a claim, however many clients repeat theirs. */
const MAX_WAITING = 10_000

/**
 * Releases claims, and repeats it for those that Redis did not answer for until their leases have ended. All of them share
 * one loop that sends one claim at a time, so that a slow Redis is not burdened with more, the slower it is. A claim beyond
 * the limit ends with its lease.
 * @param send releases one claim
 * @returns tries once, and resolves then, also if Redis is away
 */
export function createReleaseQueue(
  send: (claim: OpenClaim) => Promise<unknown>,
  leaseMs: number,
): (claim: OpenClaim) => Promise<void> {
  const waiting = new Map<string, { readonly claim: OpenClaim; readonly untilMs: number }>()
  let isRepeating = false

  /** Resolves to whether Redis answered. If it refuses the command itself, repeating would not help. */
  async function isAnswered(claim: OpenClaim): Promise<boolean> {
    try {
      await send(claim)
      return true
    } catch (error) {
      return error instanceof RedisRefusal
    }
  }

  /** Ends at the first claim that Redis does not answer for. Resolves to whether it answered for all. */
  async function releaseWaiting(): Promise<boolean> {
    for (const [token, entry] of waiting) {
      waiting.delete(token)
      if (performance.now() > entry.untilMs) continue
      if (await isAnswered(entry.claim)) continue
      // Last in the next round: one primary of a cluster that is away must not hold up the claims of the others.
      waiting.set(token, entry)
      return false
    }
    return true
  }

  async function repeat(): Promise<void> {
    isRepeating = true
    for (let failures = 0; waiting.size > 0; ) {
      // The wait does not keep the process alive: after its death, the leases end.
      await delay(backoffMs(failures, FIRST_WAIT_MS, MAX_WAIT_MS), undefined, { ref: false })
      failures = (await releaseWaiting()) ? 0 : failures + 1
    }
    isRepeating = false
  }

  return async (claim) => {
    const untilMs = performance.now() + leaseMs
    if ((await isAnswered(claim)) || waiting.size >= MAX_WAITING) return
    waiting.set(claim.token, { claim, untilMs })
    if (!isRepeating) void repeat()
  }
}
