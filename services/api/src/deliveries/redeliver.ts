import { randomUUID } from 'node:crypto'
import { AppError, type Subscription } from '@switchhook/contracts'
import type { Broker } from '@switchhook/messaging'
import type { DeliveryArchive, DeliveryRecord, Redeliverer } from '@switchhook/store'

export interface RedeliverDeps {
  readonly findSubscription: (record: DeliveryRecord) => Promise<Subscription | undefined>
  readonly find: DeliveryArchive['find']
  readonly note: DeliveryArchive['noteRedelivery']
  readonly begin: DeliveryArchive['beginRedelivery']
  readonly abandon: DeliveryArchive['abandonRedelivery']
  readonly markSent: DeliveryArchive['redeliverySent']
  readonly publish: Broker['publishDelivery']
  readonly now: () => Date
}

/** @param requestId the same whenever the request is carried out again; undefined: it never is */
export type Redeliver = (found: DeliveryRecord, requestId: string | undefined) => Promise<DeliveryRecord>

/**
 * Sends a parked delivery again: a new run of the schedule, to the url that its subscription has now; id, body and the
 * count of attempts go on. Resolves to the delivery as it now stands, once the broker has it. When anything fails on the
 * way, it stays parked and can be sent again; at worst the endpoint gets it twice. A request that is carried out again sends
 * the run that it was about at first, or none: what was parked again meanwhile stays parked. Of several at once, one sends.
 * @throws AppError `delivery-not-parked`, `delivery-without-body`, `subscription-deleted` or `subscription-disabled`; Unavailable
 */
export function createRedeliver(deps: RedeliverDeps): Redeliver {
  async function send(parked: DeliveryRecord, by: Redeliverer): Promise<DeliveryRecord> {
    if (parked.state !== 'parked') throw new AppError('delivery-not-parked')
    const subscription = await deps.findSubscription(parked)
    if (subscription === undefined) throw new AppError('subscription-deleted')
    if (!subscription.enabled) throw new AppError('subscription-disabled')
    const begun = await deps.begin(parked.deliveryId, by)
    if (begun.kind === 'unknown') throw new AppError('delivery-not-found')
    if (begun.kind === 'without-body') throw new AppError('delivery-without-body')
    if (begun.kind === 'not-parked') throw new AppError('delivery-not-parked')
    if (begun.kind === 'busy') throw new AppError('delivery-not-parked', { detail: 'It is being sent again right now' })
    const record = { ...begun.record, url: subscription.url, firstDueAt: deps.now().toISOString() }
    const { signing } = subscription
    // Its retries outlive the subscription, which may be gone before the first of them can ask it.
    try {
      await deps.publish({ ...record, ...(signing !== undefined && { signing }) })
    } catch (error) {
      await deps.abandon(parked.deliveryId, by)
      throw error
    }
    await deps.markSent(record)
    return record
  }

  return async (found, requestId) => {
    if (requestId === undefined) return send(found, { sender: randomUUID() })
    const { deliveryId, state, run } = found
    const noted = await deps.note(deliveryId, requestId, state === 'parked' ? run : undefined)
    const sender = requestId
    if (noted === undefined) return send(found, { sender })
    const by = { sender, parkedRun: noted.parkedRun }
    if (noted.isNew) return send(found, by)
    // Before it died, or lost its way to Redis or the broker.
    const isSent = state !== 'parked' || run !== noted.parkedRun
    if (isSent) return found
    return send(found, by).catch(async (error: unknown) => {
      // A worker has been faster with what was published then.
      if (error instanceof AppError && error.code === 'delivery-not-parked')
        return (await deps.find(deliveryId)) ?? found
      throw error
    })
  }
}
