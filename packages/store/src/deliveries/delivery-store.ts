import type { Attempt, Delivery, ParkedReason } from '@switchhook/contracts'
import { bodyKey, recordKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import {
  firstRecord,
  isOlderThan,
  isSettledBy,
  type Ledger,
  parseLedger,
  parseRecord,
  viewJson,
  viewOf,
} from './delivery-record.ts'
import { createParkedIndex } from './parked-index.ts'

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

/** The ledger that makes a repeated message harmless: what whoever delivers reads and writes. */
export interface DeliveryStore {
  /**
   * Whether this slot of this run is settled, a later one has begun, or the run is over: then the message is acknowledged
   * unseen. A withdrawal ends the run only for copies that have made no attempt.
   */
  isSettled(delivery: Pick<Delivery, 'deliveryId' | 'run' | 'slot' | 'attempt'>): Promise<boolean>
  /**
   * Notes what the slot of `delivery`, as it was consumed, came to. Repeating it changes nothing. What was acknowledged is
   * acknowledged even if somebody else parked the same run meanwhile.
   * @param attempt null when no POST was made
   */
  settle(delivery: Delivery, attempt: Attempt | null, next: Settlement): Promise<void>
  /** Lets the record of a waiting delivery, if there is one, live for another `waitingRetentionMs` at least. */
  keep(delivery: Pick<Delivery, 'deliveryId'>): Promise<void>
  /** Keeps the delivery whole, lists it under its subscription, and settles the slot. Repeating it changes nothing. */
  park(delivery: Delivery, attempt: Attempt | null, reason: ParkedReason): Promise<void>
}

/** Longer than any ledger line. */
const LEDGER_BYTES = 48

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

  /** What nearly all deliveries come to, at half the cost: if there is no record yet, this is the whole of it. */
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
      // Else the POST would be made, and only then found impossible to note.
      if (ledger === undefined && stored !== '') throw new Error(`${recordKey(delivery.deliveryId)} holds no record`)
      if (ledger === undefined || !isSettledBy(ledger, delivery)) return false
      if (delivery.attempt === 0) return true
      // Only a repeated message comes here, so the second read costs an ordinary delivery nothing.
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
      // Listed first: a crash in between leaves an entry that is skipped, not a parked delivery that nobody finds.
      const parkedAt = await index.add(delivery, retention.parkedRetentionMs)
      const view = viewOf(delivery, attempt, { state: 'parked', parkedReason, parkedAt })
      const { ledger } = await write(delivery, attempt, view, [retention.parkedRetentionMs, delivery.body])
      if (ledger?.state !== 'parked' || ledger.run !== delivery.run) await index.remove(delivery)
    },
  }
}
