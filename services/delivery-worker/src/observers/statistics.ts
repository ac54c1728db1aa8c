import { type Attempt, occurredAtMsOf, type SubscriptionId, type Tenant } from '@switchhook/contracts'
import { getOrCreate, type Logger } from '@switchhook/runtime'
import { type Addition, addCounts, type Counts, countAttempt, countEnd, type StatisticsStore } from '@switchhook/store'
import type { Concluded } from './observer.ts'

/** By subscription, then by minute since 1970. The key null is for subscriptions beyond `MAX_COUNTED`. */
type Tally = Map<SubscriptionId | null, Map<number, Counts>>

/** More endpoints than a worker reaches in an interval. Beyond it, only their tenant is counted until the next interval. */
const MAX_COUNTED = 20_000

const MINUTE_MS = 60_000

/**
 * Counts attempts, their outcomes and times, and parked and expired deliveries, by subscription and minute. Off the path of
 * deliveries: counts are kept in memory and written with each flush. A worker that dies, or cannot write, loses them.
 * @param hostNow ms since 1970
 */
export function createStatistics(
  store: Pick<StatisticsStore, 'add'>,
  log: Pick<Logger, 'debug'>,
  hostNow: () => number,
) {
  let tallies = new Map<Tenant, Tally>()
  let counted = 0

  function countsOf(tenant: Tenant, subscriptionId: SubscriptionId): Counts {
    const tally = getOrCreate(tallies, tenant, () => new Map())
    const key = tally.has(subscriptionId) || counted < MAX_COUNTED ? subscriptionId : null
    const minutes = getOrCreate(tally, key, () => {
      if (key !== null) counted += 1
      return new Map()
    })
    return getOrCreate(minutes, Math.floor(hostNow() / MINUTE_MS), () => new Map())
  }

  const concluded: Concluded = (delivery, attempt, decision) => {
    const end = decision.kind === 'park' ? 'parked' : decision.kind === 'expired' ? 'expired' : undefined
    if (attempt === null && end === undefined) return
    const counts = countsOf(delivery.tenant, delivery.subscriptionId)
    if (attempt !== null) countAttempt(counts, attempt, delayMsOf(delivery.body, attempt))
    if (end !== undefined) countEnd(counts, end)
  }

  /** Writes everything counted so far. Call it again only after it has resolved. */
  async function flush(): Promise<void> {
    const due = tallies
    tallies = new Map()
    counted = 0
    let lost = 0
    for (const [tenant, tally] of due) {
      await store.add(tenant, additionsOf(tally), hostNow()).catch(() => void (lost += 1))
    }
    if (lost > 0) log.debug('statistics were not written', { tenants: lost })
  }

  return { observer: { concluded }, flush }
}

/** The counts of each subscription, and their sums for the tenant. */
function additionsOf(tally: Tally): Addition[] {
  const sums = new Map<number, Counts>()
  const own: Addition[] = []
  for (const [subscriptionId, minutes] of tally) {
    for (const [minute, counts] of minutes) {
      const sum = getOrCreate(sums, minute, () => new Map())
      addCounts(sum, counts)
      if (subscriptionId !== null) own.push({ subscriptionId, atMs: minute * MINUTE_MS, counts })
    }
  }
  const ofTenant = [...sums].map(([minute, counts]) => ({ subscriptionId: null, atMs: minute * MINUTE_MS, counts }))
  return [...ofTenant, ...own]
}

/** Only the first attempt has a delay; later ones wait for the schedule. Negative if the clocks differ. */
const delayMsOf = (body: Buffer, { attempt, at }: Attempt): number | null =>
  attempt === 1 ? Date.parse(at) - occurredAtMsOf(body) : null
