import type { Delivery } from '@switchhook/contracts'
import { MAX_HOLD_MS } from '@switchhook/messaging'
import type { DueMessage } from './steps.ts'

/** More than a worker has in flight. Beyond it the oldest results are forgotten; each costs a duplicate POST. */
const MAX_KEPT = 20_000

/**
 * The copies of a message that this worker handles, by identity: they are handled one after the other, and share the result
 * of a POST that could not be settled.
 * @param nowMs monotonic
 */
export function createCopies(nowMs: () => number) {
  const running = new Map<string, Promise<void>>()
  /** Messages with a result that is not settled. Almost always empty. In the order in which they were kept. */
  const kept = new Map<string, { readonly message: DueMessage; readonly keptAtMs: number }>()

  /** Its message returned to the broker long ago. Another worker has it, or has finished it. */
  const isLapsed = ({ keptAtMs }: { readonly keptAtMs: number }): boolean => nowMs() - keptAtMs > MAX_HOLD_MS

  function forgetOldest(): void {
    for (const [key, one] of kept) {
      if (kept.size <= MAX_KEPT && !isLapsed(one)) return
      kept.delete(key)
    }
  }

  async function handle(key: string, due: Delivery, work: (message: DueMessage) => Promise<void>): Promise<void> {
    if (kept.size > 0) forgetOldest()
    const message: DueMessage = kept.get(key)?.message ?? { due }
    kept.delete(key)
    try {
      await work(message)
    } catch (error) {
      if (message.made !== undefined) kept.set(key, { message, keptAtMs: nowMs() })
      throw error
    }
  }

  return {
    /**
     * Runs `work` once no other copy of the message is handled here. It then finds what that copy has settled, or gets the
     * result that the copy could not settle. A result is kept until `work` succeeds.
     */
    async alone(due: Delivery, work: (message: DueMessage) => Promise<void>): Promise<void> {
      const key = identityOf(due)
      for (let other = running.get(key); other !== undefined; other = running.get(key)) await other
      const handled = handle(key, due, work)
      const ended = handled.catch(() => {})
      running.set(key, ended)
      try {
        await handled
      } finally {
        running.delete(key)
      }
    },
  }
}

const identityOf = ({ deliveryId, run, slot, token = '' }: Delivery): string => `${deliveryId} ${run} ${slot} ${token}`
