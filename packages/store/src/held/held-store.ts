import {
  type Delivery,
  type DeliveryId,
  parseDeliveryId,
  type ReportedOutcome,
  type SubscriptionId,
} from '@switchhook/contracts'
import { isSettledBy, parseLedger } from '../deliveries/delivery-record.ts'
import { createHeldLooks } from '../deliveries/held-looks.ts'
import { type HeldMessage, parseHeldMessage } from '../deliveries/held-message.ts'
import {
  type Endpoint,
  heldExtrasKey,
  heldKey,
  heldMessageKey,
  leasedKey,
  parkingKey,
  recordKey,
  reportedKey,
  timedKeys,
} from '../keys.ts'
import { scoredEntries } from '../paging.ts'
import type { Commands } from '../redis/commands.ts'
import { pipeline, type Redis, run, runScript } from '../redis/redis.ts'

/** A received delivery, as a client names it. */
export interface Lease {
  readonly deliveryId: DeliveryId
  /** Another one for each receipt. It ends at `leaseTimes(lease).endsAtMs`. */
  readonly lease: string
}

/** What a client reports of a delivery that it has received. */
export type Report = Lease & Pick<ReportedOutcome, 'durationMs' | 'outcome'>

export interface LeasedDelivery {
  readonly delivery: Delivery
  readonly lease: string
}

/** An entry of one of the two lists, with its score. */
export type HeldEntry = ReturnType<typeof heldEntriesOf>[number]

export type HeldCount = Awaited<ReturnType<typeof countHeld>>

/** When a look records a reported outcome, because no worker has recorded its batch. */
const REPORTED_SECONDS = 30
const SECOND_MS = 1_000

const LEASE = /^\d{16}$/

/** A lease is its end in ms, then three digits for its length in seconds (prelude.lua). */
export function leaseTimes(lease: string): { readonly beganAtMs: number; readonly endsAtMs: number } {
  const endsAtMs = Number(lease.slice(0, -3))
  return { endsAtMs, beganAtMs: endsAtMs - Number(lease.slice(-3)) * SECOND_MS }
}

/** What was reported under a lease goes with it. */
const KEYS_OF = {
  held: (id: SubscriptionId) => [heldKey(id), heldExtrasKey(id)],
  leased: (id: SubscriptionId) => [leasedKey(id), heldExtrasKey(id), reportedKey(id)],
  parking: (id: SubscriptionId) => [parkingKey(id)],
}

export type HeldStore = ReturnType<typeof createHeldStore>

/**
 * The held deliveries of subscriptions. `DeliveryStore.settle` holds a delivery: it writes its message with the ledger, then
 * lists it. An entry can be stale, because its delivery has gone on; the message decides. A leased delivery is in the list
 * of leases instead, until its lease is released or a worker has found it at its end.
 */
export function createHeldStore(redis: Redis) {
  const looks = createHeldLooks(redis)

  /**
   * The deliveries that are held now. Undefined: it has gone on, or its message has expired. One command reads message and
   * record of a delivery, because one script writes both.
   */
  async function read(ids: readonly DeliveryId[]): Promise<(HeldMessage | undefined)[]> {
    const stored = await pipeline(redis, (commands) =>
      ids.map((id) => commands.mgetBuffer(heldMessageKey(id), recordKey(id))),
    )
    return stored.map(([message, record]) => {
      const ledger = parseLedger(record?.toString() ?? '')
      if (message == null || ledger === undefined) return undefined
      const held = parseHeldMessage(message)
      return isSettledBy(ledger, held.delivery) ? undefined : held
    })
  }

  /** The first entries of a list whose score is at most that of now. */
  async function until(key: string, scoreOf: (nowMs: string) => string, offset: number, most: number) {
    const now = `${Math.floor(await redis.nowMs())}`
    const reply = await redis[run]((commands) =>
      commands.zrange(key, '-inf', scoreOf(now), 'BYSCORE', 'LIMIT', offset, most, 'WITHSCORES'),
    )
    return heldEntriesOf(reply)
  }

  /** Removes entries from a list, unless they have changed since they were read. */
  async function remove(id: SubscriptionId, list: keyof typeof KEYS_OF, entries: readonly HeldEntry[]): Promise<void> {
    if (entries.length === 0) return
    const args = entries.flatMap(({ deliveryId, score }) => [deliveryId, score])
    await runScript(redis, 'held/remove-held', KEYS_OF[list](id), args)
  }

  return {
    read,
    remove,
    count: (id: SubscriptionId): Promise<HeldCount> => redis[run]((commands) => countHeld(commands, id)),
    /** Whether a delivery can be received now, for each subscription. One round trip. */
    async areDue(ids: readonly SubscriptionId[]): Promise<readonly boolean[]> {
      const [nowMs, ...first] = await pipeline(redis, (commands) => [
        commands.nowMs(),
        ...ids.map((id) => commands.zrange(heldKey(id), '0', '0', 'WITHSCORES')),
      ])
      return first.map(([, dueAt]) => dueAt !== undefined && Number(dueAt) <= nowMs)
    },
    /** When the lease of a delivery ends, ms since 1970; null: it has none, or it has ended. One round trip. */
    async leasedUntil(id: SubscriptionId, deliveryId: DeliveryId): Promise<number | null> {
      const [nowMs, lease] = await pipeline(redis, (commands) => [
        commands.nowMs(),
        commands.zscore(leasedKey(id), deliveryId),
      ])
      const endsAtMs = lease === null ? 0 : leaseTimes(lease).endsAtMs
      return endsAtMs > nowMs ? endsAtMs : null
    },
    /** Leases the deliveries that have been due for longest. It may find fewer than `most` although more are held. */
    async receive(endpoint: Endpoint, most: number, leaseSeconds: number): Promise<readonly LeasedDelivery[]> {
      const { subscriptionId: id } = endpoint
      // Asked for first: a lease that no worker looks at would never end. A second later: the lease has not begun yet.
      await looks.askFor(endpoint, (leaseSeconds + 1) * SECOND_MS)
      const [, leased] = await pipeline(redis, (commands) => [
        commands.runScript('held/keep-time', timedKeys(id), []),
        commands.runScript('held/lease-held', [heldKey(id), leasedKey(id)], [most, leaseSeconds]),
      ])
      const entries = heldEntriesOf(leased)
      const found = await read(entries.map(({ deliveryId }) => deliveryId))
      const gone = entries.filter((_, i) => found[i] === undefined)
      await remove(id, 'leased', gone)
      return entries.flatMap(({ score: lease }, i) => {
        const delivery = found[i]?.delivery
        return delivery === undefined ? [] : [{ delivery, lease }]
      })
    },
    /** Gives deliveries back to their place. Resolves to whether each lease was still held. */
    async release(id: SubscriptionId, leases: readonly Lease[]): Promise<readonly boolean[]> {
      const found = await read(leases.map(({ deliveryId }) => deliveryId))
      const args = leases.flatMap(({ deliveryId, lease }, i) => [
        deliveryId,
        lease,
        // Without a message it has gone on: the next reader removes the entry.
        Math.floor(found[i]?.dueAtMs ?? leaseTimes(lease).beganAtMs),
      ])
      const released = await runScript(redis, 'held/release-leases', [heldKey(id), leasedKey(id)], args)
      return released.map((each) => each === 1)
    },
    /**
     * Notes outcomes whose leases have not ended, and prolongs these under new names. From then on the outcome counts, however
     * late a worker records it. Those that are left out had lost their lease, or the delivery has gone on.
     */
    async report(id: SubscriptionId, reports: readonly Report[]): Promise<readonly ReportedOutcome[]> {
      const messages = await read(reports.map(({ deliveryId }) => deliveryId))
      const outcomes = reports.flatMap(({ deliveryId, lease, durationMs, outcome }, i): ReportedOutcome[] => {
        const delivery = messages[i]?.delivery
        if (delivery === undefined || !LEASE.test(lease)) return []
        const at = new Date(leaseTimes(lease).beganAtMs).toISOString()
        return [
          { deliveryId, attempt: delivery.attempt + 1, token: delivery.token ?? '', lease, at, durationMs, outcome },
        ]
      })
      const args = outcomes.flatMap((each) => [each.deliveryId, each.lease, JSON.stringify(each)])
      const keys = [leasedKey(id), reportedKey(id)]
      const renewed = await runScript(redis, 'held/report-outcomes', keys, [REPORTED_SECONDS, ...args])
      return outcomes.flatMap((each, i) => (renewed[i] ? [{ ...each, lease: renewed[i] }] : []))
    },
    /**
     * Whether each lease is still held, and the outcome that was reported under it and that no worker has recorded. A message
     * that was read before, under a lease that is still held, is the one that was handed out.
     */
    async readLeases(id: SubscriptionId, leases: readonly HeldEntry[]) {
      if (leases.length === 0) return []
      const fields = leases.map(({ deliveryId }) => deliveryId)
      // The report first: it goes with its lease.
      const [reports, scores] = await pipeline(redis, (commands) => [
        commands.hmget(reportedKey(id), ...fields),
        commands.zmscore(leasedKey(id), ...fields),
      ])
      return leases.map(({ deliveryId, score: lease }, i) => {
        const [report, isHeld] = [reports[i], scores[i] === lease]
        if (!report?.startsWith(`${lease} `)) return { isHeld }
        const outcome = JSON.parse(report.slice(lease.length + 1)) as ReportedOutcome
        return { isHeld, reported: { ...outcome, deliveryId, lease } }
      })
    },
    /**
     * Deletes the messages of deliveries that the broker has confirmed, unless they are held again. Otherwise a late copy
     * would have them listed and published once more.
     */
    async forget(published: readonly Pick<Delivery, 'deliveryId' | 'token'>[]): Promise<void> {
      await pipeline(redis, (commands) =>
        published.map(({ deliveryId, token = '' }) =>
          commands.runScript('held/forget-message', [heldMessageKey(deliveryId)], [token]),
        ),
      )
    },
    /** Those that have been due for longest, and are not leased. */
    due: (
      id: SubscriptionId,
      { offset = 0, most }: { readonly offset?: number; readonly most: number },
    ): Promise<readonly HeldEntry[]> => until(heldKey(id), (nowMs) => nowMs, offset, most),
    lapsed: (id: SubscriptionId, most: number): Promise<readonly HeldEntry[]> =>
      until(leasedKey(id), (nowMs) => `${nowMs}999`, 0, most),
    /** Those that a worker was to park, and has not. */
    unparked: (id: SubscriptionId, most: number): Promise<readonly HeldEntry[]> =>
      until(parkingKey(id), (nowMs) => nowMs, 0, most),
    /** When the first of each list is due or ends, ms since 1970, and what time Redis has. One round trip. */
    async next(id: SubscriptionId) {
      const [, nowMs, [, dueAt], [, lease], [, parkedBy]] = await pipeline(redis, (commands) => [
        commands.runScript('held/keep-time', timedKeys(id), []),
        commands.nowMs(),
        commands.zrange(heldKey(id), '0', '0', 'WITHSCORES'),
        commands.zrange(leasedKey(id), '0', '0', 'WITHSCORES'),
        commands.zrange(parkingKey(id), '0', '0', 'WITHSCORES'),
      ])
      const lapsesAtMs = Math.min(
        lease === undefined ? Infinity : leaseTimes(lease).endsAtMs,
        parkedBy === undefined ? Infinity : Number(parkedBy),
      )
      return {
        nowMs,
        dueAtMs: dueAt === undefined ? null : Number(dueAt),
        lapsesAtMs: lapsesAtMs === Infinity ? null : lapsesAtMs,
      }
    },
    /** Has a worker look immediately. Call it when a subscription that holds deliveries was changed or deleted. */
    lookSoon: (endpoint: Endpoint): Promise<void> => looks.askFor(endpoint, 0),
  }
}

/**
 * @returns `count`: with the `leased` ones; `oldestAt`: since when the oldest of the others has been due (ISO 8601, UTC), null
 *   if there is none
 */
export async function countHeld(commands: Commands, id: SubscriptionId) {
  const [held, leased, [, since]] = await Promise.all([
    commands.zcard(heldKey(id)),
    commands.zcard(leasedKey(id)),
    commands.zrange(heldKey(id), '0', '0', 'WITHSCORES'),
  ])
  const oldestAt = since === undefined ? null : new Date(Number(since)).toISOString()
  return { count: held + leased, leased, oldestAt }
}

/** Parses a reply that alternates deliveries and scores. */
export const heldEntriesOf = (reply: readonly string[]) =>
  scoredEntries(reply).map(({ member, since }) => ({ deliveryId: parseDeliveryId(member), score: since }))
