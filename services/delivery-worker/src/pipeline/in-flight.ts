import { type Delivery, messageKeyOf } from '@switchhook/contracts'
import { MAX_UNACKED_MS } from '@switchhook/messaging'
import { createKeyedQueue } from '@switchhook/runtime'
import { LRUCache } from 'lru-cache'
import type { At, Progress } from './progress.ts'

/**
 * What a worker keeps of a message that it has POSTed and could not finish. Nothing behind `settle`: Redis may lose the slot, in
 * a failover, before the message is acknowledged, and `settle` then writes it again.
 */
type Kept = At<'decided' | 'secured'>

/** A message that this worker handles. */
export interface MessageInFlight {
  /** From which it goes on, if it comes back. Undefined: this worker has not POSTed it, or has finished it. */
  last: Kept | undefined
}

/**
 * More than a worker has in flight unless its concurrency is raised above 2,765, with the default 16 lanes of 40. Beyond
 * it the oldest results are forgotten; each costs a duplicate POST.
 */
const MAX_KEPT = 20_000

/**
 * Returns the function that handles the messages of this worker. Duplicates of a message with the same token are handled
 * one after the other, and share the result of a POST that could not be settled.
 * @param nowMs monotonic
 */
export function createInFlight(nowMs: () => number) {
  const queue = createKeyedQueue()
  /** Almost always empty. After that time another worker has the message, or has finished it. */
  const kept = new LRUCache<string, Kept>({
    max: MAX_KEPT,
    ttl: MAX_UNACKED_MS,
    ttlResolution: 0,
    perf: { now: nowMs },
  })

  return (due: Delivery, handle: (message: MessageInFlight) => Promise<void>): Promise<void> => {
    const key = messageKeyOf(due)
    return queue.run(key, async () => {
      const message = { last: kept.get(key) }
      kept.delete(key)
      try {
        await handle(message)
      } finally {
        if (message.last !== undefined) kept.set(key, message.last)
      }
    })
  }
}

/** Without a POST nothing is kept, and the message is looked at again. */
export const keptOf = (at: Progress): Kept | undefined =>
  (at.kind === 'decided' || at.kind === 'secured') && at.result.attempt !== null ? at : undefined
