import type { SubscriptionId } from '@switchhook/contracts'
import type { HeldEntry } from '@switchhook/store'
import { LRUCache } from 'lru-cache'
import { PUBLISHED_AT_ONCE, publishHeld } from '../limits/publish-held.ts'
import type { PublishAllDeps, PublishBudget } from './publish-all.ts'

/** The first entries of a list that this worker has read and that stay held: how many, and the last of them. */
interface Stay {
  readonly count: number
  readonly last?: HeldEntry | undefined
}

/** Entries that one visit reads. */
const MAX_READ = 2_000
/** More subscriptions than are disabled while they are paused. Beyond it, a worker reads their lists again. */
const MAX_REMEMBERED = 10_000

/**
 * Publishes the held first attempts of a subscription that is disabled while it is paused, for workers to withdraw them. What
 * stays needs no budget, and is not read again while the list begins with it. Resolves to whether all that is due has been read.
 */
export function createWithdrawHeld(deps: Omit<PublishAllDeps, 'redisNow'>) {
  const { held } = deps
  const stays = new LRUCache<SubscriptionId, Stay>({ max: MAX_REMEMBERED })

  /** If one of those that stay has gone, or another one was listed before them, all are read again. */
  async function readUnread(id: SubscriptionId): Promise<{ entries: readonly HeldEntry[]; stay: Stay }> {
    const stay = stays.get(id)
    if (stay?.last !== undefined) {
      const [last, ...entries] = await held.due(id, { offset: stay.count - 1, most: MAX_READ + 1 })
      if (last?.deliveryId === stay.last.deliveryId && last.score === stay.last.score) return { entries, stay }
    }
    return { entries: await held.due(id, { most: MAX_READ }), stay: { count: 0 } }
  }

  return async (id: SubscriptionId, budget: PublishBudget): Promise<boolean> => {
    let { entries, stay } = await readUnread(id)
    for (let at = 0; at < entries.length; at += PUBLISHED_AT_ONCE) {
      if (budget.yielding <= 0) return false
      const part = entries.slice(at, at + PUBLISHED_AT_ONCE)
      const gone = await publishHeld(deps, id, 'held', part, (delivery) => (delivery?.attempt ?? 0) === 0)
      budget.yielding -= gone.length
      const staying = part.filter((entry) => !gone.some((each) => each.entry === entry))
      stay = { count: stay.count + staying.length, last: staying.at(-1) ?? stay.last }
      stays.set(id, stay)
    }
    return entries.length < MAX_READ
  }
}
