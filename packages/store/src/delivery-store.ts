import type { Attempt, Delivery, DeliveryId, ParkedReason, SubscriptionId } from '@switchhook/contracts'
import {
  type DeliveryRecord,
  isSettledBy,
  parseLedger,
  parseRecord,
  type StoredRecord,
  viewJson,
  viewOf,
} from './delivery-record.ts'
import { bodyKey, recordKey } from './keys.ts'
import { createParkedIndex, type ParkedPage } from './parked-index.ts'
import { type Redis, run } from './redis.ts'

/** How long a delivery is remembered after its last change. */
export interface DeliveryRetention {
  /** Acknowledged and withdrawn ones: as long as a message may come twice. */
  readonly settledRetentionMs: number
  readonly parkedRetentionMs: number
  /** Must exceed the longest wait of the schedule, or what was settled would be sent again. */
  readonly waitingRetentionMs: number
}

/** What the slot came to, if it did not park the delivery. */
export type Settlement =
  | { readonly state: 'acknowledged' }
  | { readonly state: 'waiting'; readonly nextAttemptAt: string }
  | { readonly state: 'withdrawn' }

export type Redelivery =
  | { readonly kind: 'begun'; readonly record: DeliveryRecord & { readonly body: Buffer } }
  | { readonly kind: 'not-parked' }
  | { readonly kind: 'unknown' }

/** The ledger that makes a repeated message harmless, and the memory of what became of each delivery. */
export interface DeliveryStore {
  /** This slot of this run is settled, or a later one has begun, or the run is over: acknowledge the message unseen. */
  isSettled(delivery: Pick<Delivery, 'deliveryId' | 'run' | 'slot'>): Promise<boolean>
  /**
   * Notes what the slot of `delivery`, as it was consumed, came to. Repeating it changes nothing.
   * @param attempt null when no POST was made
   */
  settle(delivery: Delivery, attempt: Attempt | null, next: Settlement): Promise<void>
  /** Keeps the delivery whole, lists it under its subscription, and settles the slot. Repeating it changes nothing. */
  park(delivery: Delivery, attempt: Attempt | null, reason: ParkedReason): Promise<void>
  find(deliveryId: DeliveryId): Promise<DeliveryRecord | undefined>
  /**
   * The parked deliveries of a subscription, the newest first. What is parked while somebody pages shifts no page.
   * @throws AppError `invalid-request` for a cursor that this list has not given
   */
  parked(subscriptionId: SubscriptionId, page: { limit: number; cursor?: string }): Promise<ParkedPage>
  /**
   * Begins the next run of a parked delivery: the record is what to publish, as slot 0. Until `redeliverySent` it counts
   * as parked to everybody else and can be begun again, so that a crash in between leaves nothing stuck.
   */
  beginRedelivery(deliveryId: DeliveryId): Promise<Redelivery>
  /** @param record As `beginRedelivery` gave it, or changed (url, firstDueAt) as it was published. */
  redeliverySent(record: DeliveryRecord): Promise<void>
}

/** Longer than any ledger line. */
const LEDGER_BYTES = 48

export function createDeliveryStore(redis: Redis, retention: DeliveryRetention): DeliveryStore {
  const index = createParkedIndex(redis, retention.parkedRetentionMs, load)
  const retentionMs: Record<Settlement['state'], number> = {
    acknowledged: retention.settledRetentionMs,
    withdrawn: retention.settledRetentionMs,
    waiting: retention.waitingRetentionMs,
  }

  async function write(
    delivery: Delivery,
    attempt: Attempt | null,
    view: ReturnType<typeof viewOf>,
    rest: (number | Buffer)[],
  ) {
    const { deliveryId, run: ofRun, slot } = delivery
    const json = attempt === null ? '' : JSON.stringify(attempt)
    const ledger = await redis[run]((commands) =>
      commands.runScript(
        'settle-delivery',
        [recordKey(deliveryId), bodyKey(deliveryId)],
        [ofRun, slot, view.state, viewJson(view), json, ...rest],
      ),
    )
    return parseLedger(ledger)
  }

  async function load(deliveryId: DeliveryId): Promise<(StoredRecord & { body: Buffer | null }) | undefined> {
    const [stored, body] = await redis[run]((commands) =>
      Promise.all([commands.get(recordKey(deliveryId)), commands.getBuffer(bodyKey(deliveryId))]),
    )
    const record = parseRecord(stored ?? '')
    return record && { ...record, body }
  }

  return {
    async isSettled(delivery) {
      const stored = await redis[run]((commands) =>
        commands.getrange(recordKey(delivery.deliveryId), 0, LEDGER_BYTES - 1),
      )
      const ledger = parseLedger(stored)
      return ledger !== undefined && isSettledBy(ledger, delivery)
    },
    async settle(delivery, attempt, next) {
      const slot = next.state === 'waiting' ? delivery.slot + 1 : delivery.slot
      await write(delivery, attempt, viewOf(delivery, attempt, { ...next, slot }), [retentionMs[next.state]])
    },
    async park(delivery, attempt, parkedReason) {
      // Listed first: a crash in between leaves an entry that is skipped, not a parked delivery that nobody finds.
      const parkedAt = await index.add(delivery)
      const view = viewOf(delivery, attempt, { state: 'parked', parkedReason, parkedAt })
      const ledger = await write(delivery, attempt, view, [retention.parkedRetentionMs, delivery.body])
      if (ledger?.state !== 'parked' || ledger.run !== delivery.run) await index.remove(delivery)
    },
    async find(deliveryId) {
      const found = await load(deliveryId)
      return found && { deliveryId, ...found.view, attempts: found.attempts, body: found.body }
    },
    parked: (subscriptionId, page) => index.page(subscriptionId, page),
    async beginRedelivery(deliveryId) {
      const stored = await redis[run]((commands) =>
        commands.runScript('begin-redelivery', [recordKey(deliveryId), bodyKey(deliveryId)], []),
      )
      if (stored === '') return { kind: 'not-parked' }
      const begun = parseRecord(stored ?? '')
      const body = await redis[run]((commands) => commands.getBuffer(bodyKey(deliveryId)))
      if (begun === undefined || body === null) return { kind: 'unknown' }
      const fresh = { slot: 0, state: 'pending', parkedReason: null, parkedAt: null, nextAttemptAt: null } as const
      const { view, ledger, attempts } = begun
      return { kind: 'begun', record: { deliveryId, ...view, ...fresh, run: ledger.run, attempts, body } }
    },
    async redeliverySent(record) {
      await redis[run]((commands) =>
        commands.runScript('redelivery-sent', [recordKey(record.deliveryId)], [record.run, viewJson(record)]),
      )
      await index.remove({ ...record, run: record.run - 1 })
    },
  }
}
