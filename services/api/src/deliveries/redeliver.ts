import { AppError, type Subscription } from '@switchhook/contracts'
import type { Broker } from '@switchhook/messaging'
import type { DeliveryArchive, DeliveryRecord } from '@switchhook/store'

export interface RedeliverDeps {
  readonly findSubscription: (record: DeliveryRecord) => Promise<Subscription | undefined>
  readonly begin: DeliveryArchive['beginRedelivery']
  readonly markSent: DeliveryArchive['redeliverySent']
  readonly publish: Broker['publishDelivery']
  readonly now: () => Date
}

/**
 * Sends a parked delivery again: a new run of the schedule, to the url that its subscription has now; id, body and the
 * count of attempts go on. Resolves to the delivery as it now stands, once the broker has it. When anything fails on the
 * way, it stays parked and can be sent again; at worst the endpoint gets it twice.
 * @throws AppError `delivery-not-parked`, `subscription-deleted` or `subscription-disabled`; Unavailable
 */
export function createRedeliver(deps: RedeliverDeps): (parked: DeliveryRecord) => Promise<DeliveryRecord> {
  return async (parked) => {
    if (parked.state !== 'parked') throw new AppError('delivery-not-parked')
    const subscription = await deps.findSubscription(parked)
    if (subscription === undefined) throw new AppError('subscription-deleted')
    if (!subscription.enabled) throw new AppError('subscription-disabled')
    const begun = await deps.begin(parked.deliveryId)
    if (begun.kind === 'unknown') throw new AppError('delivery-not-found')
    if (begun.kind === 'not-parked') throw new AppError('delivery-not-parked')
    const record = { ...begun.record, url: subscription.url, firstDueAt: deps.now().toISOString() }
    const { signing } = subscription
    // Its retries outlive the subscription, which may be gone before the first of them can ask it.
    await deps.publish({ ...record, ...(signing !== undefined && { signing }) })
    await deps.markSent(record)
    return record
  }
}
