import {
  type Delivery,
  type DeliveryId,
  parseDeliveryId,
  type ReportedOutcome,
  type SubscriptionId,
} from '@switchhook/contracts'
import type { HeldMessage } from '../deliveries/held-message.ts'
import type { HeldVisits } from '../deliveries/held-visits.ts'
import { UNIT_BYTES } from '../deliveries/tenant-sizes.ts'
import { type Endpoint, heldExtrasKey, heldKey, leasedKey, outcomesKey, reportedKey, timedKeys } from '../keys.ts'
import { scoredEntries } from '../paging.ts'
import { execute, pipeline, type Redis, runScript } from '../redis/redis.ts'

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

/** An entry of a list of held deliveries, with its score. */
export type HeldEntry = ReturnType<typeof heldEntriesOf>[number]

/** Parses a reply that alternates deliveries and scores. */
export const heldEntriesOf = (reply: readonly string[]) =>
  scoredEntries(reply).map(({ member, since }) => ({ deliveryId: parseDeliveryId(member), score: since }))

/** Of the deliveries that one request receives: a mebibyte of bodies. */
const MAX_RECEIVED_UNITS = (1_024 * 1_024) / UNIT_BYTES
/** When a visit records a reported outcome, because no worker has recorded its batch. */
const REPORTED_SECONDS = 30
const SECOND_MS = 1_000
/** How long it is known that a batch is recorded. The request that reported its outcomes waits for it. */
const RECORDED_MS = 10 * 60_000

const LEASE = /^\d{16}$/

/** A lease is its end in ms, then three digits for its length in seconds (prelude.lua). */
export function leaseTimes(lease: string): { readonly beganAtMs: number; readonly endsAtMs: number } {
  const endsAtMs = Number(lease.slice(0, -3))
  return { endsAtMs, beganAtMs: endsAtMs - Number(lease.slice(-3)) * SECOND_MS }
}

/** Those of the held deliveries. */
interface HeldReads {
  readonly read: (ids: readonly DeliveryId[]) => Promise<readonly (HeldMessage | undefined)[]>
  readonly remove: (id: SubscriptionId, list: 'leased', entries: readonly HeldEntry[]) => Promise<void>
}

/** The leases of held deliveries that clients have received. */
export function createHeldLeases(redis: Redis, visits: Pick<HeldVisits, 'askFor'>, { read, remove }: HeldReads) {
  return {
    /** When the lease of a delivery ends, ms since 1970; null: it has none, or it has ended. One round trip. */
    async leasedUntil(id: SubscriptionId, deliveryId: DeliveryId): Promise<number | null> {
      const [nowMs, lease] = await pipeline(redis, (commands) => [
        commands.nowMs(),
        commands.zscore(leasedKey(id), deliveryId),
      ])
      const endsAtMs = lease === null ? 0 : leaseTimes(lease).endsAtMs
      return endsAtMs > nowMs ? endsAtMs : null
    },
    /**
     * Leases the deliveries that have been due for longest, up to a mebibyte of bodies, but at least one. It may find fewer than
     * `most` although more are held.
     */
    async receive(endpoint: Endpoint, most: number, leaseSeconds: number): Promise<readonly LeasedDelivery[]> {
      const { subscriptionId: id } = endpoint
      // Asked for first: a lease that no worker visits would never end. A second later: the lease has not begun yet.
      await visits.askFor(endpoint, (leaseSeconds + 1) * SECOND_MS)
      const [, leased] = await pipeline(redis, (commands) => [
        commands.runScript('held/keep-time', timedKeys(id), []),
        commands.runScript(
          'held/lease-held',
          [heldKey(id), leasedKey(id), heldExtrasKey(id)],
          [most, leaseSeconds, MAX_RECEIVED_UNITS],
        ),
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
    /** A worker has recorded the outcomes of a batch. */
    async recorded(batchId: string): Promise<void> {
      await redis[execute]((commands) => commands.set(outcomesKey(batchId), '', 'PX', RECORDED_MS))
    },
    isRecorded: async (batchId: string): Promise<boolean> =>
      (await redis[execute]((commands) => commands.exists(outcomesKey(batchId)))) === 1,
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
  }
}
