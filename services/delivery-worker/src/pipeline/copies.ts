import { type Delivery, messageIdentityOf } from '@switchhook/contracts'
import { MAX_HOLD_MS } from '@switchhook/messaging'
import type { At, Progress } from './progress.ts'
import type { Kept } from './steps.ts'

/** More than a worker has in flight. Beyond it the oldest results are forgotten; each costs a duplicate POST. */
const MAX_KEPT = 20_000

/** @param keep is given each value that a repeat could go on from */
type Work = (at: At<'due'> | Kept, keep: (at: Progress) => void) => Promise<void>

/**
 * The copies of a message that this worker handles, by identity: they are handled one after the other, and share the result
 * of a POST that could not be settled.
 * @param nowMs monotonic
 */
export function createCopies(nowMs: () => number) {
  const running = new Map<string, Promise<void>>()
  /** Of messages that were POSTed and are not settled. Almost always empty. In the order in which they were kept. */
  const kept = new Map<string, { readonly last: Kept; readonly keptAtMs: number }>()

  /** Its message returned to the broker long ago. Another worker has it, or has finished it. */
  const isLapsed = ({ keptAtMs }: { readonly keptAtMs: number }): boolean => nowMs() - keptAtMs > MAX_HOLD_MS

  function forgetOldest(): void {
    for (const [key, one] of kept) {
      if (kept.size <= MAX_KEPT && !isLapsed(one)) return
      kept.delete(key)
    }
  }

  async function handle(key: string, due: Delivery, work: Work): Promise<void> {
    if (kept.size > 0) forgetOldest()
    let last = kept.get(key)?.last
    kept.delete(key)
    try {
      await work(last ?? { kind: 'due', delivery: due }, (at) => {
        if (isKept(at)) last = at
      })
    } catch (error) {
      if (last !== undefined) kept.set(key, { last, keptAtMs: nowMs() })
      throw error
    }
  }

  return {
    /**
     * Runs `work` once no other copy of the message is handled here. It then finds what that copy has settled, or goes on from
     * the last value that the copy could not settle.
     */
    async alone(due: Delivery, work: Work): Promise<void> {
      const key = messageIdentityOf(due)
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

/** Without a POST nothing is kept, and the message is looked at again. A settled slot is known to the ledger. */
const isKept = (at: Progress): at is Kept =>
  (at.kind === 'posted' || at.kind === 'decided' || at.kind === 'secured') && at.result.attempt !== null
