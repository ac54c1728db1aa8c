import type { Delivery } from '@switchhook/contracts'
import type { Source } from '../endpoint/isolate.ts'
import { createCopies } from './copies.ts'
import { attempt, conclude, concludeSettled, type DeliverDeps, giveUpProbe, isFresh, look, needOf } from './steps.ts'

/**
 * Takes one due delivery through its slot. Resolves when its message may be acknowledged. Rejects only for failures of our
 * own (the broker or Redis is away, or the process is out of sockets); the message must then come back.
 */
export type Deliver = (due: Delivery, source: Source) => Promise<void>

/**
 * Calls the steps of a delivery, which docs/architecture.md (6) lists. The consumer then acknowledges the message.
 *
 * The order is the promise. A retry is confirmed by the broker, or a parked record stored, before the slot is settled. The
 * slot is settled before the message is acknowledged. The notice of a parked delivery follows the record that it is built
 * from and precedes the acknowledgement: if the worker dies in between, the message comes back, finds its slot settled and
 * publishes the notice. A crash at any point costs at most a duplicate POST. Without a crash, while only the broker or Redis
 * is away, the POST is not repeated: `copies` keeps its result until it is settled, with the token of its confirmed retry. A
 * retry whose confirm was lost is published again with a new token, and the ledger tells the two apart.
 *
 * Each delivery is checked once; later steps reuse the result. A delivery that waited for a turn is checked again only if
 * the lease of its look has ended, or this worker has seen the endpoint fail. So a look is at most one lease old when a turn
 * begins, and it is safe to rely on it:
 * - Ledger: only a second copy of the message, in another worker, can have settled the slot since. The POST is then a
 *   duplicate, just as if the copy had settled the slot during the POST. Of their two retries, the ledger drops one.
 * - Breaker: a cool-down that this worker began is always seen. If another worker began it within that time, each delivery
 *   that gets a turn before its lease ends is still POSTed, just like the attempts in flight. They are at most as many as
 *   the subscription has turns in that time.
 * - Subscription: a first attempt is written only while its lease is valid, whatever the look said.
 */
export function createDeliver(worker: DeliverDeps): Deliver {
  const copies = createCopies(worker.nowMs)
  return (due, source) =>
    copies.alone(due, (message) =>
      worker.isolation.inTurn(due, source, {
        look: () => look(worker, message),
        needs: needOf,
        giveUpProbe: (looked) => giveUpProbe(worker, looked),
        isFresh: (looked) => isFresh(worker, looked),
        async work(looked) {
          if (looked.kind === 'settled') return concludeSettled(worker, message, looked)
          const result = looked.kind === 'sendable' ? await attempt(worker, looked) : looked
          if (result.kind === 'made') message.made = result
          await conclude(worker, result)
        },
      }),
    )
}
