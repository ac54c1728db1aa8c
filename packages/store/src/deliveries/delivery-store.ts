import type { Attempt, Delivery, ParkedReason } from '@switchhook/contracts'
import { bodyKey, recordKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import {
  firstRecord,
  isOlderThan,
  isSettledBy,
  LEDGER_BYTES,
  type Ledger,
  parseLedger,
  parseRecord,
  viewJson,
  viewOf,
} from './delivery-record.ts'
import { createParkedIndex } from './parked-index.ts'

/** How long a record is kept after its last change. */
export interface DeliveryRetention {
  /** Acknowledged and withdrawn deliveries. Must cover the time in which a copy of the message may still arrive. */
  readonly settledRetentionMs: number
  readonly parkedRetentionMs: number
  /** Must exceed the longest wait of the schedule, or settled slots would be sent again. */
  readonly waitingRetentionMs: number
}

/** The result of a slot that did not park the delivery. */
export type Settlement =
  | { readonly state: 'acknowledged' }
  | { readonly state: 'waiting'; readonly nextAttemptAt: string }
  | { readonly state: 'withdrawn' }

/** The ledger, as the worker reads and writes it. It makes repeated messages harmless. */
export interface DeliveryStore {
  /**
   * Whether this slot of this run is settled, because it or a later slot was settled, the run is over, or a later run has
   * begun. The message is then acknowledged without a POST. A withdrawal ends the run only for copies without an attempt.
   */
  isSettled(delivery: Pick<Delivery, 'deliveryId' | 'run' | 'slot' | 'attempt'>): Promise<boolean>
  /**
   * Records the result of the slot. Repeating it changes nothing. An acknowledgement counts even if another worker parked
   * the same run meanwhile.
   * @param delivery as it was consumed
   * @param attempt null if no POST was made
   */
  settle(delivery: Delivery, attempt: Attempt | null, next: Settlement): Promise<void>
  /** Keeps the record of a waiting delivery, if there is one, for at least another `waitingRetentionMs`. */
  keep(delivery: Pick<Delivery, 'deliveryId'>): Promise<void>
  /** Stores the delivery with its body, lists it under its subscription, and settles the slot. Can be repeated. */
  park(delivery: Delivery, attempt: Attempt | null, reason: ParkedReason): Promise<void>
}

export function createDeliveryStore(redis: Redis, retention: DeliveryRetention): DeliveryStore {
  const index = createParkedIndex(redis)
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
  ): Promise<{ ledger: Ledger | undefined; unparked: boolean }> {
    const { deliveryId, run: ofRun, slot } = delivery
    const json = attempt === null ? '' : JSON.stringify(attempt)
    const [ledger, unparked] = await redis[run]((commands) =>
      commands.runScript(
        'deliveries/settle-delivery',
        [recordKey(deliveryId), bodyKey(deliveryId)],
        [ofRun, slot, view.state, viewJson(view), json, ...rest],
      ),
    )
    return { ledger: parseLedger(ledger), unparked: unparked === 1 }
  }

  /** The common case, a first attempt that succeeds, at half the cost of the script: writes the record if none exists. */
  async function writeFirst(delivery: Delivery, attempt: Attempt, view: ReturnType<typeof viewOf>): Promise<boolean> {
    const record = firstRecord({ run: delivery.run, slot: delivery.slot, state: view.state }, view, attempt)
    const written = await redis[run]((commands) =>
      commands.set(recordKey(delivery.deliveryId), record, 'PX', retention.settledRetentionMs, 'NX'),
    )
    return written !== null
  }

  return {
    async isSettled(delivery) {
      const stored = await redis[run]((commands) =>
        commands.getrange(recordKey(delivery.deliveryId), 0, LEDGER_BYTES - 1),
      )
      const ledger = parseLedger(stored)
      // Fail now, because otherwise the worker would POST first and then fail to settle.
      if (ledger === undefined && stored !== '') throw new Error(`${recordKey(delivery.deliveryId)} holds no record`)
      if (ledger === undefined || !isSettledBy(ledger, delivery)) return false
      if (delivery.attempt === 0) return true
      // Only repeated messages get here, so ordinary deliveries do not pay for the second read.
      const record = parseRecord((await redis[run]((commands) => commands.get(recordKey(delivery.deliveryId)))) ?? '')
      return record !== undefined && !isOlderThan(record, delivery)
    },
    async settle(delivery, attempt, next) {
      const slot = next.state === 'waiting' ? delivery.slot + 1 : delivery.slot
      const view = viewOf(delivery, attempt, { ...next, slot })
      if (next.state === 'acknowledged' && attempt !== null && (await writeFirst(delivery, attempt, view))) return
      const { unparked } = await write(delivery, attempt, view, [retentionMs[next.state]])
      if (unparked) await index.remove(delivery)
    },
    async keep({ deliveryId }) {
      await redis[run]((commands) => commands.pexpire(recordKey(deliveryId), retention.waitingRetentionMs, 'GT'))
    },
    async park(delivery, attempt, parkedReason) {
      // List it first: a crash in between leaves an entry that readers skip, not a parked delivery that is never listed.
      const parkedAt = await index.add(delivery, retention.parkedRetentionMs)
      const view = viewOf(delivery, attempt, { state: 'parked', parkedReason, parkedAt })
      const { ledger } = await write(delivery, attempt, view, [retention.parkedRetentionMs, delivery.body])
      if (ledger?.state !== 'parked' || ledger.run !== delivery.run) await index.remove(delivery)
    },
  }
}
