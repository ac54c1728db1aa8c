import { type Delivery, type DeliveryId, parseDeliveryId, type SubscriptionId } from '@switchhook/contracts'
import { oneAtATime } from '@switchhook/runtime'
import { bodyKey, type Endpoint, parkedExtrasKey, parkedKey, parkedLimitKey, recordKey } from '../keys.ts'
import { isoTime, type ScoredEntry, scoredEntries } from '../paging.ts'
import { pipeline, type Redis, runScript } from '../redis/redis.ts'
import type { StoredRecord } from './delivery-record.ts'
import { endpointOf, memberOf } from './held-visits.ts'
import { createLifetimes, type DeliveryRetention } from './ledger-store.ts'
import {
  CUT_AT_ONCE,
  type Cut,
  type CutResult,
  createTenantSizes,
  extraUnitsOf,
  type StorageLimits,
} from './tenant-sizes.ts'

/** What was released of the parked deliveries of a subscription that has, or whose tenant has, too many. */
interface Released extends Endpoint {
  readonly bodies: number
  readonly dropped: number
  /** How many may keep their body. */
  readonly limit: number
}

export interface ParkedLimits extends StorageLimits {
  readonly released: (what: Released) => void
}

/** More than workers park at a time. Near a limit, each checks once more after its record is stored. */
const PARKED_AT_ONCE = 1_000
/** Of its own list, for one delivery. More than one is needed if many are parked at a time, or the limit was lowered. */
const MAX_CUTS = PARKED_AT_ONCE / CUT_AT_ONCE
/** Longer than a worker takes from listing a delivery to storing its record. */
const PARKING_US = 60_000_000

/**
 * The lists of parked deliveries, within limits. Beyond them, the oldest lose their body; as many are kept without.
 * An entry may be stale: the record of a delivery decides whether it is parked.
 */
export function createParkedList(redis: Redis, retention: DeliveryRetention, limits: ParkedLimits) {
  const { parkedRetentionMs } = retention
  /** A dropped delivery is kept for as long as a finished one, against late duplicates of its message. */
  const { finishedMs } = createLifetimes(retention)
  const sizes = createTenantSizes(redis, 'parked', limits, parkedRetentionMs)

  /** @param keptMsOf how long a record is still kept; '': as long as before */
  async function release(
    entries: readonly ScoredEntry[],
    keptMsOf: (deliveryId: DeliveryId) => number | '',
    isBeingParked: (entry: ScoredEntry) => boolean,
  ) {
    const replies = await pipeline(redis, (commands) =>
      entries.map((entry) => {
        const { deliveryId, run: parkedRun } = toEntry(entry)
        const keys = [recordKey(deliveryId), bodyKey(deliveryId)]
        return commands.runScript('deliveries/release-parked', keys, [parkedRun, keptMsOf(deliveryId)])
      }),
    )
    // A delivery is listed before its record is stored. The worker that is parking it cuts the list afterwards.
    const waiting = entries.filter((entry, i) => replies[i] === 2 && isBeingParked(entry))
    const released = entries.filter((_, i) => replies[i] === 1)
    const gone = entries.filter((entry) => !released.includes(entry) && !waiting.includes(entry))
    return { waiting, released, gone }
  }

  /**
   * Releases bodies and deliveries beyond what is kept, the oldest first. They are released before that is recorded, so after a
   * crash in between, the next cut finds the same ones. Several workers may cut the same list.
   */
  async function cut({ tenant, subscriptionId }: Endpoint, { keep, most }: Cut): Promise<CutResult> {
    const keys = parkedKeys(subscriptionId)
    const [size, nowUs, ...found] = await runScript(redis, 'deliveries/find-excess-parked', keys, [keep, most])
    const [drop = [], whole = []] = found.map((each) => scoredEntries(each))
    if (drop.length + whole.length === 0) return { size, taken: 0 }
    const isBeingParked = ({ since }: ScoredEntry): boolean => Number(since) > Number(nowUs) - PARKING_US
    const bodies = whole.filter(({ member }) => !drop.some((each) => each.member === member))
    const dropping = await release(drop, (deliveryId) => finishedMs({ tenant, deliveryId }), isBeingParked)
    const releasing = await release(bodies, () => '', isBeingParked)
    const waiting = [...dropping.waiting, ...releasing.waiting].map(({ member }) => member)
    const firstWaiting = whole.findIndex(({ member }) => waiting.includes(member))
    const placed = (firstWaiting < 0 ? whole : whole.slice(0, firstWaiting)).at(-1)?.since ?? ''
    const [names, gone] = [dropping.released, dropping.gone].map((some) => some.map(({ member }) => member))
    const args = [parkedRetentionMs, placed, dropping.released.length, ...(names ?? []), ...(gone ?? [])]
    const [dropped, sizeAfter] = await runScript(redis, 'deliveries/record-released-parked', keys, args)
    const released = { tenant, subscriptionId, limit: keep, bodies: releasing.released.length, dropped }
    if (released.bodies + dropped > 0) limits.released(released)
    return { size: sizeAfter, taken: drop.length + whole.length - waiting.length }
  }

  /** Shared by the deliveries that this worker parks meanwhile: each would find what all of them exceed. */
  const cutOwn = oneAtATime(async (name: string): Promise<void> => {
    const endpoint = endpointOf(name)
    const own = { keep: limits.perSubscription, most: CUT_AT_ONCE }
    let result = await cut(endpoint, own)
    for (let cuts = 1; cuts < MAX_CUTS && result.taken >= CUT_AT_ONCE; cuts++) result = await cut(endpoint, own)
    await sizes.cutLongest(await sizes.record(endpoint, result), cut)
  })

  return {
    remove: (parked: ParkedRun): Promise<void> => removeParked(redis, parked),
    /**
     * Lists a delivery. Call `cut` with the result when its record is stored. Can be repeated.
     * @returns `parkedAt`: when it was first listed, ISO 8601, UTC
     */
    async add(delivery: Delivery) {
      const args = [entryOf(delivery), parkedRetentionMs, extraUnitsOf(delivery)]
      const [since, size] = await runScript(redis, 'deliveries/add-parked', parkedKeys(delivery.subscriptionId), args)
      // Before the record, so that no crash leaves a list that its tenant does not know.
      const sized = { size: Math.min(size, limits.perSubscription), before: size }
      const { over } = await sizes.record(delivery, sized, { mayCut: false })
      return { parkedAt: isoTime(since), isOver: over > 0 || size > limits.perSubscription - PARKED_AT_ONCE }
    },
    async cut(endpoint: Endpoint, { isOver }: { readonly isOver: boolean }): Promise<void> {
      if (isOver) await cutOwn(memberOf(endpoint))
    },
  }
}

export type ParkedCount = Awaited<ReturnType<ReturnType<typeof createParkedCounter>['count']>>

export const createParkedCounter = (redis: Redis) => ({
  /**
   * @returns `count` includes those `withoutBody`, and not those `dropped`, which start at 0 again if nothing was released for
   *   `parkedRetentionMs`; deliveries that were parked up to `bodiesUntil` (µs) have no body
   */
  async count(subscriptionId: SubscriptionId) {
    const keys = [parkedKey(subscriptionId), parkedLimitKey(subscriptionId)]
    const [count, withoutBody, dropped, bodiesUntil] = await runScript(redis, 'deliveries/count-parked', keys)
    return { count, withoutBody, dropped, bodiesUntil }
  },
})

type ParkedRun = Pick<Delivery, 'deliveryId' | 'subscriptionId' | 'run'>

export type ParkedEntry = Readonly<ReturnType<typeof toEntry>>

const parkedKeys = (id: SubscriptionId): string[] => [parkedKey(id), parkedLimitKey(id), parkedExtrasKey(id)]

export async function removeParked(redis: Redis, parked: ParkedRun): Promise<void> {
  const keys = [parkedKey(parked.subscriptionId), parkedExtrasKey(parked.subscriptionId)]
  await runScript(redis, 'deliveries/remove-parked', keys, [entryOf(parked)])
}

/** A redelivery that is not known to be published still counts as the parked run before it. */
export function isParked({ ledger }: Pick<StoredRecord, 'ledger'>, listed: Pick<ParkedEntry, 'run'>): boolean {
  if (ledger.state === 'parked') return ledger.run === listed.run
  return ledger.state === 'unsent' && ledger.run === listed.run + 1
}

/** It includes the run, so that the end of one run never removes the entry of the next. */
const entryOf = ({ deliveryId, run }: ParkedRun): string => `${deliveryId}:${run}`

/** @returns `since`: when it was added, in µs, as Redis formats it; unique within a list */
export function toEntry({ member, since }: ScoredEntry) {
  const [deliveryId = '', run] = member.split(':')
  return { deliveryId: parseDeliveryId(deliveryId), run: Number(run), since }
}
