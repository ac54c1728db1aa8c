import type { SubscriptionId } from '@switchhook/contracts'
import type { HeldStore } from '@switchhook/store'
import { LRUCache } from 'lru-cache'
import { PUBLISHED_AT_ONCE, type PublishHeldDeps, publishHeld } from '../limits/publish-held.ts'
import { NEXT_VISIT_MS, type VisitPlan } from './plan-visit.ts'

export interface PublishAllDeps extends PublishHeldDeps {
  readonly held: PublishHeldDeps['held'] & Pick<HeldStore, 'due'>
  readonly redisNow: () => number
}

/** How many more deliveries the visits of one round may publish, all together, to the queue of yielding ones and to the due queues. */
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
/** More subscriptions than are resumed at a time. Beyond it, one begins slowly again. */
const MAX_REMEMBERED = 10_000

/** Publishes what a subscription no longer holds, slowly at first: a part for each visit. */
export function createPublishAll(deps: PublishAllDeps) {
  const { held, redisNow } = deps
  const parts = new LRUCache<SubscriptionId, number>({
    max: MAX_REMEMBERED,
    ttl: PART_MEMORY_MS,
    ttlResolution: 0,
    perf: { now: redisNow },
  })

  return {
    beginSlowly: (id: SubscriptionId): void => void parts.delete(id),
    /** Resolves to the time until the next visit. */
    async publishPart(
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
      for (let at = 0; at < entries.length; at += PUBLISHED_AT_ONCE) {
        await publishHeld(deps, id, 'held', entries.slice(at, at + PUBLISHED_AT_ONCE), () => true)
      }
      if (entries.length < most) {
        parts.delete(id)
        return nextInMs
      }
      parts.set(id, isProbing ? FIRST_PART : Math.min(2 * part, MAX_PART))
      return NEXT_VISIT_MS
    },
  }
}
