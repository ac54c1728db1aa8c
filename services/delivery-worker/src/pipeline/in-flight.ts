import { type Delivery, messageKeyOf } from '@switchhook/contracts'
import { MAX_UNACKED_MS } from '@switchhook/messaging'
import type { At, Progress } from './progress.ts'

/**
 * What a worker keeps of a message that it has POSTed and could not finish. Nothing behind `settle`: Redis may lose the slot, in
 * a failover, before the message is acknowledged, and `settle` then writes it again.
 */
type Kept = At<'decided' | 'secured'>

/** A message between `enter` and `leave`. */
export type MessageInFlight = Awaited<ReturnType<ReturnType<typeof createInFlight>['enter']>>

/**
 * More than a worker has in flight unless its concurrency is raised above 2,800. Beyond it the oldest results are forgotten;
 * each costs a duplicate POST.
 */
const MAX_KEPT = 20_000

/**
 * The messages that this worker handles. Duplicates of a message with the same token are handled one after the other, and
 * share the result of a POST that could not be settled.
 * @param nowMs monotonic
 */
export function createInFlight(nowMs: () => number) {
  const running = new Map<string, Promise<void>>()
  /** Almost always empty. In the order in which they were kept. */
  const kept = new Map<string, { readonly last: Kept; readonly keptAtMs: number }>()

  /** Its message returned to the broker long ago. Another worker has it, or has finished it. */
  const isLapsed = ({ keptAtMs }: { readonly keptAtMs: number }): boolean => nowMs() - keptAtMs > MAX_UNACKED_MS

  function forgetOldest(): void {
    for (const [key, one] of kept) {
      if (kept.size <= MAX_KEPT && !isLapsed(one)) return
      kept.delete(key)
    }
  }

  return {
    /** Resolves once no other duplicate of the message is handled here. It must leave in the end. */
    async enter(due: Delivery) {
      const key = messageKeyOf(due)
      for (let other = running.get(key); other !== undefined; other = running.get(key)) await other
      const { promise, resolve: ended } = Promise.withResolvers<void>()
      running.set(key, promise)
      if (kept.size > 0) forgetOldest()
      const before = kept.get(key)?.last
      kept.delete(key)
      let last = before
      return {
        /** The value from which it goes on. Absent: this worker has not POSTed the message, or has finished it. */
        kept: before,
        /** Gets each value that `conclude` handles, before the stage that follows it. */
        reached(at: Progress): void {
          if (at.kind === 'noticed') last = undefined
          else if (isKept(at)) last = at
        },
        leave(): void {
          if (last !== undefined) kept.set(key, { last, keptAtMs: nowMs() })
          running.delete(key)
          ended()
        },
      }
    },
  }
}

/** Without a POST nothing is kept, and the message is looked at again. */
const isKept = (at: Progress): at is Kept =>
  (at.kind === 'decided' || at.kind === 'secured') && at.result.attempt !== null
