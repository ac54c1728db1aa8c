import type { Delivery, DeliveryId, SubscriptionId } from '@switchhook/contracts'
import { bodyKey, recordKey, redeliveryKey, senderKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import { announcedRecord, type DeliveryRecord, parseRecord, viewJson, viewOf } from './delivery-record.ts'
import { createParkedIndex, type ParkedPage, type ParkedQuery } from './parked-index.ts'

type Redelivery =
  | { readonly kind: 'begun'; readonly record: DeliveryRecord & { readonly body: Buffer } }
  | { readonly kind: 'not-parked' }
  /** Somebody else is sending it at this moment. */
  | { readonly kind: 'busy' }
  /** It is parked, but its body is no longer kept: the tenant or the subscription has too many parked deliveries. */
  | { readonly kind: 'without-body' }
  | { readonly kind: 'unknown' }

export interface Redeliverer {
  /** A name that nobody else has. */
  readonly sender: string
  /** Which run must have been parked, for whoever must not send what was parked again meanwhile; absent: whichever. */
  readonly parkedRun?: number
}

interface NotedRedelivery {
  readonly parkedRun: number
  /** It was noted just now. */
  readonly isNew: boolean
}

/**
 * What became of each delivery, as long as whoever delivers wanted it kept, and the way back for those that were parked.
 * Nothing here makes a record live longer or shorter.
 */
export interface DeliveryArchive {
  /**
   * Remembers a delivery that is about to be published, so that it can be found before its first attempt is over. Not for those
   * of events: they are too many for a record each before they need one. Repeating it changes nothing.
   */
  announce(delivery: Delivery): Promise<void>
  find(deliveryId: DeliveryId): Promise<DeliveryRecord | undefined>
  /**
   * The parked deliveries of a subscription, the newest first. What is parked while somebody pages shifts no page.
   * @throws AppError `invalid-request` for a cursor that this list has not given
   */
  parked(subscriptionId: SubscriptionId, query: ParkedQuery): Promise<ParkedPage>
  /**
   * Begins the next run of a parked delivery: the record is what to publish, as slot 0. Until `redeliverySent` it counts
   * as parked to everybody else. The same sender can begin it again at any time, anybody else after 15 seconds, so that no two
   * send it and a crash in between leaves nothing stuck.
   */
  beginRedelivery(deliveryId: DeliveryId, by: Redeliverer): Promise<Redelivery>
  /** It could not be published: somebody else may begin it at once. */
  abandonRedelivery(deliveryId: DeliveryId, by: Pick<Redeliverer, 'sender'>): Promise<void>
  /**
   * Remembers which parked run a request is to send again, so that it sends no later one when it is carried out again. Resolves to
   * what was said of it first, for two days after it was last asked; undefined: nothing was, and nothing is said now.
   */
  noteRedelivery(deliveryId: DeliveryId, requestId: string, parkedRun?: number): Promise<NotedRedelivery | undefined>
  /** @param record As `beginRedelivery` gave it, or changed (url, firstDueAt) as it was published. */
  redeliverySent(record: DeliveryRecord): Promise<void>
}

/** Long for a first attempt to come; each turn of the delivery sets its own time. */
const ANNOUNCED_MS = 7 * 86_400_000
/** Longer than a broker takes to confirm, or to be found silent. */
const SENDING_LEASE_MS = 15_000
/** Longer than a request is remembered by its key. */
const REDELIVERY_NOTED_MS = 2 * 86_400_000

export function createDeliveryArchive(redis: Redis): DeliveryArchive {
  const index = createParkedIndex(redis)

  return {
    async announce(delivery) {
      const record = announcedRecord(delivery, viewOf(delivery, null, { state: 'pending' }))
      await redis[run]((commands) => commands.set(recordKey(delivery.deliveryId), record, 'PX', ANNOUNCED_MS, 'NX'))
    },
    async find(deliveryId) {
      const [stored, body] = await redis[run]((commands) =>
        Promise.all([commands.get(recordKey(deliveryId)), commands.getBuffer(bodyKey(deliveryId))]),
      )
      const found = parseRecord(stored ?? '')
      return found && { deliveryId, ...found.view, attempts: found.attempts, body }
    },
    parked: (subscriptionId, query) => index.page(subscriptionId, query),
    async beginRedelivery(deliveryId, { sender, parkedRun }) {
      const keys = [recordKey(deliveryId), bodyKey(deliveryId), senderKey(deliveryId)]
      const args = [parkedRun ?? '', sender, SENDING_LEASE_MS]
      const stored = await redis[run]((commands) => commands.runScript('deliveries/begin-redelivery', keys, args))
      if (stored === '') return { kind: 'not-parked' }
      if (stored === 'busy' || stored === 'without-body') return { kind: stored }
      const begun = parseRecord(stored ?? '')
      const body = await redis[run]((commands) => commands.getBuffer(bodyKey(deliveryId)))
      if (begun === undefined) return { kind: 'unknown' }
      if (body === null) return { kind: 'without-body' }
      const fresh = { slot: 0, state: 'pending', parkedReason: null, parkedAt: null, nextAttemptAt: null } as const
      const { view, ledger, attempts } = begun
      return { kind: 'begun', record: { deliveryId, ...view, ...fresh, run: ledger.run, attempts, body } }
    },
    async abandonRedelivery(deliveryId, { sender }) {
      await redis[run]((commands) =>
        commands.runScript('deliveries/abandon-redelivery', [senderKey(deliveryId)], [sender]),
      )
    },
    async noteRedelivery(deliveryId, requestId, parkedRun) {
      const key = redeliveryKey(deliveryId, requestId)
      if (parkedRun !== undefined) {
        const written = await redis[run]((commands) => commands.set(key, parkedRun, 'PX', REDELIVERY_NOTED_MS, 'NX'))
        if (written !== null) return { parkedRun, isNew: true }
      }
      const noted = await redis[run]((commands) => commands.getex(key, 'PX', REDELIVERY_NOTED_MS))
      return noted === null ? undefined : { parkedRun: Number(noted), isNew: false }
    },
    async redeliverySent(record) {
      await redis[run]((commands) =>
        commands.runScript(
          'deliveries/confirm-redelivery',
          [recordKey(record.deliveryId)],
          [record.run, viewJson(record)],
        ),
      )
      await index.remove({ ...record, run: record.run - 1 })
    },
  }
}
