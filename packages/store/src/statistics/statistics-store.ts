import { parseSubscriptionId, type SubscriptionId, type Tenant } from '@switchhook/contracts'
import { countedSubscriptionsKey, statisticsKey } from '../keys.ts'
import { chunksOf } from '../redis/in-chunks.ts'
import { execute, pipeline, type Redis, runScript } from '../redis/redis.ts'
import { addStored, type Counts, figuresOf, formatCounts } from './counts.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** The length of a cell, and how long it is kept, in ms. */
export const STATISTICS_STEPS = {
  '1m': { stepMs: MINUTE_MS, keptMs: DAY_MS },
  '1h': { stepMs: HOUR_MS, keptMs: 30 * DAY_MS },
} as const

export type StatisticsStep = keyof typeof STATISTICS_STEPS

/** Cells of one hash. Redis stores a hash of at most 128 short values compactly, and each key costs about 150 bytes. */
const CELLS = 120

/** Additions of one script call: well under a millisecond of Redis' time. */
const ADDITIONS_AT_ONCE = 50

/** A subscription that was not counted for this long gives way to another one. */
const GIVES_WAY_AFTER_MS = HOUR_MS

/** Counts of one minute. */
export interface Addition {
  /** Null: the tenant as a whole. */
  readonly subscriptionId: SubscriptionId | null
  /** Any moment of the minute, ms since 1970. */
  readonly atMs: number
  readonly counts: ReadonlyMap<string, number>
}

export interface StatisticsQuery {
  readonly step: StatisticsStep
  /** From the period that holds this moment on, ms since 1970. */
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
  /** Ms since 1970. Older periods than the step keeps are left out. */
  readonly nowMs: number
}

export type StatisticsStore = ReturnType<typeof createStatisticsStore>

/**
 * Counts what happened to deliveries, by minute for a day and by hour for 30 days: for each tenant, and for a limited
 * number of its subscriptions. No decision depends on these figures, and they may be lost.
 * @param limits.subscriptions how many subscriptions of a tenant have statistics of their own at a time
 */
export function createStatisticsStore(redis: Redis, limits: { readonly subscriptions: number }) {
  async function addSome(tenant: Tenant, additions: readonly Addition[], nowMs: number): Promise<void> {
    const cells = additions.map(({ subscriptionId, atMs, counts }) => ({
      keys: STEPS.map((step) => statisticsKey(tenant, subscriptionId, step, placeOf(step, atMs).hash)),
      args: [subscriptionId ?? '', ...STEPS.map((step) => placeOf(step, atMs).field), formatCounts(counts)],
    }))
    const bounds = [limits.subscriptions, nowMs, nowMs - GIVES_WAY_AFTER_MS, ...STEPS.map(lifetimeOf)]
    const keys = [countedSubscriptionsKey(tenant), ...cells.flatMap((cell) => cell.keys)]
    const args = [...bounds, ...cells.flatMap((cell) => cell.args)]
    const gone = await runScript(redis, 'statistics/add-counts', keys, args)
    if (gone.length > 0) await forget(tenant, gone.map(parseSubscriptionId), nowMs)
  }

  /**
   * Leaves out additions that could not be stored anyway, so that a tenant with very many active subscriptions costs Redis
   * no more than one with twice the limit.
   */
  async function storable(tenant: Tenant, additions: readonly Addition[]): Promise<readonly Addition[]> {
    const own = additions.filter(({ subscriptionId }) => subscriptionId !== null)
    if (own.length <= limits.subscriptions) return additions
    const members = new Set(
      await redis[execute]((commands) => commands.zrange(countedSubscriptionsKey(tenant), '0', '-1')),
    )
    const isMember = ({ subscriptionId }: Addition): boolean => members.has(subscriptionId ?? '')
    return [
      ...additions.filter(({ subscriptionId }) => subscriptionId === null),
      ...own.filter(isMember),
      ...own.filter((addition) => !isMember(addition)).slice(0, limits.subscriptions),
    ]
  }

  /** A crash before this leaves hashes that expire. */
  async function forget(tenant: Tenant, ids: readonly SubscriptionId[], nowMs: number): Promise<void> {
    const keys = STEPS.flatMap((step) => {
      const hashes = hashesBetween(step, nowMs - STATISTICS_STEPS[step].keptMs, nowMs)
      return ids.flatMap((id) => hashes.map((hash) => statisticsKey(tenant, id, step, hash)))
    })
    await redis[execute]((commands) => commands.unlink(keys))
  }

  return {
    /** Must not be repeated: the counts would be added twice. */
    async add(tenant: Tenant, additions: readonly Addition[], nowMs: number): Promise<void> {
      const stored = await storable(tenant, additions)
      for (const some of chunksOf(stored, ADDITIONS_AT_ONCE)) await addSome(tenant, some, nowMs)
    },
    /** The figures of the periods that have any, the oldest first. `atMs`: when the period begins, in ms since 1970. */
    async points(
      tenant: Tenant,
      subscriptionId: SubscriptionId | null,
      { step, fromMs, toMs, nowMs }: StatisticsQuery,
    ) {
      const { stepMs, keptMs } = STATISTICS_STEPS[step]
      const first = Math.max(Math.floor(fromMs / stepMs), Math.ceil((nowMs - keptMs) / stepMs))
      // A worker's clock may be ahead by a little, and nothing is counted later than that.
      const end = Math.min(Math.ceil(toMs / stepMs), Math.floor(nowMs / stepMs) + 2)
      if (first >= end || fromMs >= toMs) return []
      const hashes = hashesBetween(step, first * stepMs, (end - 1) * stepMs)
      const stored = await pipeline(redis, (commands) =>
        hashes.map((hash) => commands.hgetall(statisticsKey(tenant, subscriptionId, step, hash))),
      )
      return stored
        .flatMap((cells, i) =>
          Object.entries(cells).map(([field, cell]) => ({ cell, at: (hashes[i] ?? 0) * CELLS + Number(field) })),
        )
        .filter(({ at }) => at >= first && at < end)
        .toSorted((a, b) => a.at - b.at)
        .map(({ cell, at }) => {
          const counts: Counts = new Map()
          addStored(counts, cell)
          return { atMs: at * stepMs, ...figuresOf(counts) }
        })
    },
    /** False: the tenant has as many subscriptions with statistics as it can have, and this one is not among them. */
    async isCounted(tenant: Tenant, subscriptionId: SubscriptionId): Promise<boolean> {
      const key = countedSubscriptionsKey(tenant)
      const [score, count] = await pipeline(redis, (commands) => [
        commands.zscore(key, subscriptionId),
        commands.zcard(key),
      ])
      return score !== null || count < limits.subscriptions
    },
  }
}

const STEPS = ['1m', '1h'] as const satisfies readonly StatisticsStep[]

function placeOf(step: StatisticsStep, atMs: number): { readonly hash: number; readonly field: number } {
  const cell = Math.floor(atMs / STATISTICS_STEPS[step].stepMs)
  return { hash: Math.floor(cell / CELLS), field: cell % CELLS }
}

function hashesBetween(step: StatisticsStep, fromMs: number, untilMs: number): number[] {
  const [first, last] = [placeOf(step, fromMs).hash, placeOf(step, untilMs).hash]
  return Array.from({ length: last - first + 1 }, (_, i) => first + i)
}

/** From the first cell of a hash until its last one is too old. */
const lifetimeOf = (step: StatisticsStep): number =>
  STATISTICS_STEPS[step].keptMs + CELLS * STATISTICS_STEPS[step].stepMs
