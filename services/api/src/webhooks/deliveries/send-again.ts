import type { DeliveryId, Subscription } from '@switchhook/contracts'
import type { Redeliverer, Sendable } from '@switchhook/store'
import type { WebhookParts } from '../stores.ts'

export interface SendAgainDeps extends Pick<WebhookParts, 'now'> {
  readonly deliveries: Pick<
    WebhookParts['deliveries'],
    'beginRedelivery' | 'abandonRedelivery' | 'redeliverySent' | 'list'
  >
  readonly publish: WebhookParts['publishDelivery']
}

/**
 * Sends a parked delivery again, or any that `sendable` allows: begins the next run under a lease, publishes it to the
 * subscription's current url, records the broker's confirm, and lists a new delivery. If publishing fails, the delivery
 * stays parked and the lease is released, so that any sender can send the same run immediately.
 * @returns `busy`: another sender holds the lease; `unknown`: the record has expired; `without-body`: only its body is no
 *   longer kept
 * @throws the error of `publish`; Unavailable if Redis is away
 */
export async function sendAgain(
  { deliveries, publish, now }: SendAgainDeps,
  deliveryId: DeliveryId,
  by: Redeliverer,
  { url, signing, headers }: Pick<Subscription, 'url' | 'signing' | 'headers'>,
  sendable?: Sendable,
) {
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
  if (sendable?.fresh !== undefined) await deliveries.list(sendable.fresh)
  return { kind: 'sent' as const, record }
}
