import type { SubscriptionId } from '@switchhook/contracts'
import { chunksOf, type HeldEntry, type HeldStore } from '@switchhook/store'
import { LRUCache } from 'lru-cache'
import { PUBLISHED_AT_ONCE, type PublishHeldDeps, publishHeld } from '../limits/publish-held.ts'
import { NEXT_VISIT_MS, type VisitPlan } from './plan-visit.ts'

export interface PublishPartsDeps extends PublishHeldDeps {
  readonly held: PublishHeldDeps['held'] & Pick<HeldStore, 'due'>
  readonly redisNow: () => number
}

/** How many more deliveries the visits of one round may publish, to the queue of yielding ones and to the due queues. */
export interface PublishBudget {
  yielding: number
  due: number
}

/** Deliveries that the first visit after a pause publishes. Each further one publishes twice as many, up to the second. */
const FIRST_PART = 100
const MAX_PART = 2_000
/**
 * How long a worker remembers how large the next part is while others visit. Shorter than a cool-down, which others may have
 * seen begin and end; long, because a worker among many that has forgotten it begins slowly again in the middle.
 */
const PART_MEMORY_MS = 25_000
/** Entries that one visit reads to withdraw first attempts. */
const MAX_READ = 2_000
/** More subscriptions than are resumed, or disabled while they are paused. Beyond it, a visit begins again. */
const MAX_REMEMBERED = 10_000

/** Publishes what a subscription no longer holds, a part with each visit. Both resolve to the time until the next one. */
export function createPublishParts(deps: PublishPartsDeps) {
  const { held, redisNow } = deps
  const parts = new LRUCache<SubscriptionId, number>({
    max: MAX_REMEMBERED,
    ttl: PART_MEMORY_MS,
    ttlResolution: 0,
    perf: { now: redisNow },
  })
  /** The first entries of a list that this worker has read and that stay held: how many, and the last of them. */
  const stays = new LRUCache<SubscriptionId, { readonly count: number; readonly last?: HeldEntry | undefined }>({
    max: MAX_REMEMBERED,
  })

  /** If an entry of what stays has gone, or one was listed before it, all are read again. */
  async function readUnread(id: SubscriptionId) {
    const stay = stays.get(id)
    if (stay?.last !== undefined) {
      const [last, ...entries] = await held.due(id, { offset: stay.count - 1, most: MAX_READ + 1 })
      if (last?.deliveryId === stay.last.deliveryId && last.score === stay.last.score) return { entries, stay }
    }
    return { entries: await held.due(id, { most: MAX_READ }), stay: { count: 0, last: undefined } }
  }

  return {
    beginSlowly: (id: SubscriptionId): void => void parts.delete(id),
    async publishAll(
      id: SubscriptionId,
      { isProbing, nextInMs }: Extract<VisitPlan, { kind: 'publish-all' }>,
      budget: PublishBudget,
    ): Promise<number> {
      if (budget.yielding <= 0) return NEXT_VISIT_MS
      const part = parts.get(id) ?? FIRST_PART
      const most = Math.min(isProbing ? 1 : part, budget.yielding)
      // Taken before the read, because other visits of this round share the budget.
      budget.yielding -= most
      const entries = await held.due(id, { most })
      budget.yielding += most - entries.length
      for (const some of chunksOf(entries, PUBLISHED_AT_ONCE)) await publishHeld(deps, id, 'held', some, () => true)
      if (entries.length < most) {
        parts.delete(id)
        return nextInMs
      }
      parts.set(id, isProbing ? FIRST_PART : Math.min(2 * part, MAX_PART))
      return NEXT_VISIT_MS
    },
    /** Publishes first attempts of a subscription that is disabled while it is paused: workers withdraw them. */
    async withdraw(
      id: SubscriptionId,
      { nextInMs }: Extract<VisitPlan, { kind: 'withdraw' }>,
      budget: PublishBudget,
    ): Promise<number> {
      let { entries, stay } = await readUnread(id)
      for (const some of chunksOf(entries, PUBLISHED_AT_ONCE)) {
        if (budget.yielding <= 0) return NEXT_VISIT_MS
        const gone = await publishHeld(deps, id, 'held', some, (delivery) => (delivery?.attempt ?? 0) === 0)
        budget.yielding -= gone.length
        const staying = some.filter((entry) => !gone.some((each) => each.entry === entry))
        stay = { count: stay.count + staying.length, last: staying.at(-1) ?? stay.last }
        stays.set(id, stay)
      }
      return entries.length < MAX_READ ? nextInMs : NEXT_VISIT_MS
    },
  }
}
