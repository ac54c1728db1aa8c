import type { DeliveryId, Subscription } from '@switchhook/contracts'
import type { Broker } from '@switchhook/messaging'
import type { DeliveryArchive, DeliveryRecord, Redeliverer } from '@switchhook/store'

export interface SendAgainDeps {
  readonly deliveries: Pick<DeliveryArchive, 'beginRedelivery' | 'abandonRedelivery' | 'redeliverySent'>
  readonly publish: Broker['publishDelivery']
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** `busy`: another sender holds the lease. `unknown`: the record is no longer stored; `without-body`: only its body is not. */
type SentAgain =
  | { readonly kind: 'sent'; readonly record: DeliveryRecord }
  | { readonly kind: 'not-parked' | 'busy' | 'unknown' | 'without-body' }

export type SendAgain = (
  deliveryId: DeliveryId,
  by: Redeliverer,
  subscription: Pick<Subscription, 'url' | 'signing'>,
) => Promise<SentAgain>

/**
 * Sends one parked delivery again, for a request and for a recovery alike: begins its next run under a lease, publishes it
 * to the subscription's present url, and notes that the broker confirmed it. If publishing fails, the delivery stays parked
 * and the lease is released, so that any sender can send the same run at once.
 * @throws whatever `publish` throws; Unavailable without Redis
 */
export function createSendAgain({ deliveries, publish, now }: SendAgainDeps): SendAgain {
  return async (deliveryId, by, { url, signing }) => {
    const begun = await deliveries.beginRedelivery(deliveryId, by)
    if (begun.kind !== 'begun') return begun
    const record = { ...begun.record, url, firstDueAt: new Date(now()).toISOString() }
    try {
      // The subscription may be deleted before the first retry reads its secret, so the secret travels along.
      await publish({ ...record, ...(signing !== undefined && { signing }) })
    } catch (error) {
      // If Redis is away too, the lease expires. The caller needs to know why publishing failed.
      await deliveries.abandonRedelivery(deliveryId, by).catch(() => {})
      throw error
    }
    await deliveries.redeliverySent(record)
    return { kind: 'sent', record }
  }
}
