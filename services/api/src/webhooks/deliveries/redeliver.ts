import { randomUUID } from 'node:crypto'
import {
  AppError,
  type Delivery,
  type DeliveryId,
  envelopesWith,
  firstDeliveriesOf,
  type Subscription,
} from '@switchhook/contracts'
import type { Broker } from '@switchhook/messaging'
import type {
  DeliveryArchive,
  DeliveryRecord,
  JournalEntry,
  JournalReader,
  Redeliverer,
  Sendable,
  SubscriptionStore,
} from '@switchhook/store'

export interface RedeliverDeps extends SendAgainDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'find'>
  readonly deliveries: SendAgainDeps['deliveries'] &
    Pick<DeliveryArchive, 'find' | 'noteRedelivery' | 'forgetRedelivery'>
  readonly journal: Pick<JournalReader, 'find'>
}

/**
 * Sends a delivery again, unless an attempt of it is due now: a new run of the schedule to the subscription's current url,
 * with the same id and body and a continued attempt count. The body of a delivery that is not parked comes from the
 * journal. A delivery that waits for its next attempt gets it now, and its schedule begins again. Resolves to the delivery's
 * new state once the broker has confirmed it. If a step fails, the delivery stays parked, or keeps its schedule, and can be
 * sent again; at worst the endpoint receives it twice. A repeated request sends the run of the first request or nothing: a
 * delivery that was parked again meanwhile stays parked. Of concurrent requests, one sends.
 * @param requestId the same for every repeat of the request; undefined: the request has no idempotency key and is never repeated
 * @throws AppError `delivery-not-parked`, `delivery-without-body`, `subscription-deleted` or `subscription-disabled`; Unavailable
 */
export async function redeliver(
  deps: RedeliverDeps,
  found: DeliveryRecord,
  requestId: string | undefined,
): Promise<DeliveryRecord> {
  if (requestId === undefined) return send(deps, found, { sender: randomUUID() })
  const { deliveryId, run } = found
  const noted = await deps.deliveries.noteRedelivery(deliveryId, requestId, isDue(found) ? undefined : run)
  const sender = requestId
  if (noted === undefined) return send(deps, found, { sender })
  const by = { sender, parkedRun: noted.parkedRun }
  if (noted.isNew) {
    return send(deps, found, by).catch(async (error: unknown) => {
      // Nothing was sent. Without the note, a repeat may also send a later run of the delivery.
      if (error instanceof AppError) await deps.deliveries.forgetRedelivery(deliveryId, requestId).catch(() => {})
      throw error
    })
  }
  // The first request has sent the run and could not answer: its process died, or lost Redis or the broker.
  const isSent = found.isUnsent !== true && (isDue(found) || run !== noted.parkedRun)
  if (isSent) return found
  return send(deps, found, by).catch(async (error: unknown) => {
    // The first request has published the run, and a worker has settled it meanwhile.
    if (error instanceof AppError && error.code === 'delivery-not-parked')
      return (await deps.deliveries.find(deliveryId)) ?? found
    throw error
  })
}

async function send(deps: RedeliverDeps, found: DeliveryRecord, by: Redeliverer): Promise<DeliveryRecord> {
  if (isDue(found)) throw new AppError('delivery-not-parked', { detail: DUE })
  const subscription = await deps.subscriptions.find(found.tenant, found.subscriptionId)
  if (subscription === undefined) throw new AppError('subscription-deleted')
  if (!subscription.enabled) throw new AppError('subscription-disabled')
  const sent = await sendAgain(deps, found.deliveryId, by, subscription, await sendableOf(deps, found))
  switch (sent.kind) {
    case 'sent':
      return sent.record
    case 'unknown':
      throw new AppError('delivery-not-found')
    case 'without-body':
      throw new AppError('delivery-without-body')
    case 'not-parked':
      throw new AppError('delivery-not-parked')
    case 'busy':
      throw new AppError('delivery-not-parked', { detail: BUSY })
  }
}

/** Undefined: the delivery is parked with its body, which is all that sending it needs. */
async function sendableOf({ journal }: RedeliverDeps, found: DeliveryRecord): Promise<Sendable | undefined> {
  if (found.state === 'parked' && found.body !== null) return undefined
  const body = found.body ?? (await bodyFromJournal(journal, found))
  if (body === undefined) throw new AppError('delivery-without-body')
  return { which: 'any', body }
}

const DUE = 'An attempt of this delivery is due now.'
export const BUSY = 'Another request is sending this delivery now.'
export const FIRST_ATTEMPT = 'The first attempt of this delivery is not finished.'

/** Its next attempt is about to be made or in progress. */
const isDue = ({ state, isUnsent }: DeliveryRecord): boolean => state === 'pending' && isUnsent !== true

export interface SendAgainDeps {
  readonly deliveries: Pick<DeliveryArchive, 'beginRedelivery' | 'abandonRedelivery' | 'redeliverySent'>
  readonly publish: Broker['publishDelivery']
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** `busy`: another sender holds the lease. `unknown`: the record has expired. `without-body`: only its body is no longer kept. */
export type SentAgain =
  | { readonly kind: 'sent'; readonly record: DeliveryRecord }
  | { readonly kind: 'not-parked' | 'busy' | 'unknown' | 'without-body' }

/**
 * Sends a parked delivery again, or any that `sendable` allows: begins the next run under a lease, publishes it to the
 * subscription's current url, and records the broker's confirm. If publishing fails, the delivery stays parked and the
 * lease is released, so that any sender can send the same run immediately.
 * @throws the error of `publish`; Unavailable if Redis is away
 */
export async function sendAgain(
  { deliveries, publish, now }: SendAgainDeps,
  deliveryId: DeliveryId,
  by: Redeliverer,
  { url, signing, headers }: Pick<Subscription, 'url' | 'signing' | 'headers'>,
  sendable?: Sendable,
): Promise<SentAgain> {
  const begun = await deliveries.beginRedelivery(deliveryId, by, sendable)
  if (begun.kind !== 'begun') return begun
  const record: typeof begun.record = {
    ...begun.record,
    url,
    firstDueAt: new Date(now()).toISOString(),
    ...(sendable !== undefined && { isRequested: true }),
  }
  try {
    // The secret and the headers travel with the delivery, because the subscription may be deleted before a retry reads it.
    await publish({ ...record, ...(signing !== undefined && { signing }), ...(headers !== undefined && { headers }) })
  } catch (error) {
    // If Redis is away too, the lease expires. Either way, the caller gets the error of publishing.
    await deliveries.abandonRedelivery(deliveryId, by).catch(() => {})
    throw error
  }
  await deliveries.redeliverySent(record, by)
  return { kind: 'sent', record }
}

/** Builds the body of a delivery from the journal: the same bytes as at the fan-out. Undefined: the journal does not have the event. */
export async function bodyFromJournal(
  journal: Pick<JournalReader, 'find'>,
  { tenant, eventId, deliveryId }: Pick<Delivery, 'tenant' | 'eventId' | 'deliveryId'>,
): Promise<Buffer | undefined> {
  const entry = await journal.find(tenant, eventId)
  if (entry === undefined || entry.dataJson === null) return undefined
  return envelopesWith({ ...entry, tenant }, entry.dataJson)(deliveryId)
}

/** The delivery of a journaled event that the tenant asked for, due at `nowMs`. Undefined: the journal does not have its data. */
export function requestedDelivery(
  entry: JournalEntry,
  subscription: Pick<Subscription, 'id' | 'url' | 'tenant'>,
  nowMs: number,
): Delivery | undefined {
  if (entry.dataJson === null) return undefined
  const event = { ...entry, tenant: subscription.tenant }
  const deliveryTo = firstDeliveriesOf(event, new Date(nowMs).toISOString(), entry.dataJson)
  return { ...deliveryTo(subscription), isRequested: true }
}
