import type { Delivery, DeliveryId } from '@switchhook/contracts'
import { bodyKey, type Endpoint, logKey, recordKey, redeliveryKey, senderKey, subscriptionsKey } from '../keys.ts'
import { execute, pipeline, type Redis, runScript } from '../redis/redis.ts'
import { type DeliveryRecord, ledgerOf, parseRecord, recordText, viewJson, viewOf } from './delivery-record.ts'
import { listSizeOf } from './list-size.ts'
import { removeParked } from './parked-list.ts'

type Redelivery =
  | { readonly kind: 'begun'; readonly record: DeliveryRecord & { readonly body: Buffer } }
  | { readonly kind: 'not-parked' }
  /** Another sender is publishing it. */
  | { readonly kind: 'busy' }
  /** It is parked, but a limit on parked deliveries released its body. */
  | { readonly kind: 'without-body' }
  | { readonly kind: 'unknown' }

export interface Redeliverer {
  /** A unique name. */
  readonly sender: string
  /** Redeliver only if this run was parked, not a later one. Absent: any run. */
  readonly parkedRun?: number
  /** The sender is a request that can be repeated: a repeat begins the same run, and never a later one. */
  readonly isRequest?: boolean
}

/** What a sender brings along to send a delivery that is not parked, or has lost its body. */
export interface Sendable {
  /** `any`: also one that was acknowledged, withdrawn, or waits for its next attempt. `new`: only one without a record. */
  readonly which: 'any' | 'new'
  readonly body: Buffer
  /** The delivery to create if there is no record. */
  readonly fresh?: Delivery
}

/** Ample time until the first attempt, which sets the record's further lifetime. */
const ANNOUNCED_MS = 7 * 86_400_000
/** Longer than the wait for a publisher confirm. */
const SENDING_LEASE_MS = 15_000
/** Longer than an idempotency key is remembered. */
const REDELIVERY_NOTED_MS = 2 * 86_400_000
/** Once the answer is stored: longer than a run of the request that began before. */
const ANSWERED_NOTED_MS = 10 * 60_000
/** Longer than publishing takes. A new delivery that could not be published is forgotten after it. */
const UNSENT_MS = 60_000
/** The default of DELIVERY_LOG_RETENTION, for a list that fan-out has not written yet, and may never write. */
const NEW_LIST_MS = 8 * 86_400_000

export type DeliveryArchive = ReturnType<typeof createDeliveryArchive>

/** Finds deliveries and redelivers parked ones. It never changes how long a record is kept; `DeliveryStore` decides that. */
export const createDeliveryArchive = (redis: Redis) => ({
  /** Makes a test delivery known before its first attempt. A record for every delivery then would be too many. */
  async announce(delivery: Delivery): Promise<void> {
    const record = withoutAttempt(delivery, 'pending')
    await redis[execute]((commands) => commands.set(recordKey(delivery.deliveryId), record, 'PX', ANNOUNCED_MS, 'NX'))
  },
  async find(deliveryId: DeliveryId): Promise<DeliveryRecord | undefined> {
    const [stored, body] = await pipeline(redis, (commands) => [
      commands.get(recordKey(deliveryId)),
      commands.getBuffer(bodyKey(deliveryId)),
    ])
    const found = parseRecord(stored ?? '')
    if (found === undefined) return undefined
    const { ledger, view, attempts } = found
    return { deliveryId, ...view, attempts, body, ...(ledger.state === 'unsent' && { isUnsent: true }) }
  },
  /**
   * Begins the next run of a parked delivery. The returned record is to be published, as slot 0. Until `redeliverySent`
   * the delivery still counts as parked; one that waits keeps its schedule. The same sender can begin the run again at
   * any time, another one after 15 seconds. So two senders never send it concurrently, and a crash does not block it.
   * @param sendable absent: only a parked delivery whose body is kept
   */
  async beginRedelivery(
    deliveryId: DeliveryId,
    { sender, parkedRun, isRequest = false }: Redeliverer,
    sendable?: Sendable,
  ): Promise<Redelivery> {
    const ids = [recordKey(deliveryId), bodyKey(deliveryId), senderKey(deliveryId)]
    const keys = [...ids, redeliveryKey(deliveryId, sender)]
    const { which = 'parked', fresh } = sendable ?? {}
    const record = fresh === undefined ? '' : withoutAttempt(fresh, 'unsent')
    const own = [which, sendable === undefined ? '' : '1', record, UNSENT_MS, isRequest ? REDELIVERY_NOTED_MS : '']
    const args = [parkedRun ?? '', sender, SENDING_LEASE_MS, ...own]
    const stored = await runScript(redis, 'deliveries/begin-redelivery', keys, args)
    if (stored === '') return { kind: 'not-parked' }
    if (stored === 'busy' || stored === 'without-body') return { kind: stored }
    const begun = parseRecord(stored ?? '')
    const body = sendable?.body ?? (await redis[execute]((commands) => commands.getBuffer(bodyKey(deliveryId))))
    if (begun === undefined) return { kind: 'unknown' }
    if (body === null) return { kind: 'without-body' }
    const due = { slot: 0, state: 'pending', parkedReason: null, parkedAt: null, nextAttemptAt: null } as const
    const { ledger, attempts } = begun
    const { parkedCause: _, ...view } = begun.view
    return { kind: 'begun', record: { deliveryId, ...view, ...due, run: ledger.run, attempts, body } }
  },
  /** Call it if publishing failed. Another sender may then begin immediately. */
  abandonRedelivery: (deliveryId: DeliveryId, { sender }: Pick<Redeliverer, 'sender'>): Promise<void> =>
    runScript(redis, 'redis/delete-if-equal', [senderKey(deliveryId)], [sender]),
  /** The run that an earlier call of the same request began from; undefined: none has begun one. */
  async begunFrom(deliveryId: DeliveryId, requestId: string): Promise<number | undefined> {
    const key = redeliveryKey(deliveryId, requestId)
    const noted = await redis[execute]((commands) => commands.getex(key, 'PX', REDELIVERY_NOTED_MS))
    return noted === null ? undefined : Number(noted)
  },
  /** Notes that the record of `beginRedelivery` was published: by this sender, or if absent, by another one. */
  async redeliverySent(record: DeliveryRecord, by?: Pick<Redeliverer, 'sender'>): Promise<void> {
    const keys = [recordKey(record.deliveryId), senderKey(record.deliveryId)]
    const args = [record.run, viewJson(record), ANNOUNCED_MS, by?.sender ?? '']
    await runScript(redis, 'deliveries/confirm-redelivery', keys, args)
    await removeParked(redis, { ...record, run: record.run - 1 })
  },
  /** Soon forgets what `begunFrom` finds: repeats of the request get its stored answer. */
  async redeliveryAnswered(deliveryId: DeliveryId, requestId: string): Promise<void> {
    await redis[execute]((commands) => commands.pexpire(redeliveryKey(deliveryId, requestId), ANSWERED_NOTED_MS))
  },
  /** Lists a delivery that was not fanned out among those of its subscription. Can be repeated. */
  async list({ tenant, subscriptionId, eventId, eventType }: Pick<Delivery, keyof Endpoint | 'eventId' | 'eventType'>) {
    const subscriptions = await redis[execute]((commands) => commands.hlen(subscriptionsKey(tenant)))
    // Fan-out, which has the limit of a subscription, shortens the list with its next entry.
    const args = [listSizeOf(Infinity, subscriptions), NEW_LIST_MS, 'new', 1, `${eventId}:${eventType}`]
    await runScript(redis, 'history/add-events', [logKey(subscriptionId)], args)
  },
})

function withoutAttempt(delivery: Delivery, state: 'pending' | 'unsent'): string {
  const view = viewOf(delivery, null, { state: 'pending' })
  return recordText({ ...ledgerOf(view), state }, view)
}
