import { setTimeout as pause } from 'node:timers/promises'
import { AppError, isGuid, parseDeliveryId, type Tenant } from '@switchhook/contracts'
import { type DeliveryRecord, pendingDelivery } from '@switchhook/store'
import type { WebhookParts } from '../stores.ts'

export interface FindDeliveryDeps {
  readonly deliveries: Pick<WebhookParts['deliveries'], 'find'>
  readonly deliveryLog: Pick<WebhookParts['deliveryLog'], 'pending'>
  readonly subscriptions: Pick<WebhookParts['subscriptions'], 'find'>
}

/**
 * Fan-out collects log entries for 50 ms while first attempts are already being made, so a receiver can ask for a delivery
 * that is not logged yet. Four times as long, for a machine under load.
 */
const LOGGED_WITHIN_MS = 200

/**
 * Finds a delivery of the tenant by its id alone. It has a record once its first slot is settled. Until then, only the
 * delivery log knows it, and it is shown with the current url of its subscription, which the first attempt will use unless
 * it changes before.
 * @throws AppError `delivery-not-found`, also for a malformed id and for a delivery of another tenant
 */
export async function findDelivery(
  { deliveries, deliveryLog, subscriptions }: FindDeliveryDeps,
  tenant: Tenant,
  id: string | undefined,
  wait: (ms: number) => Promise<void> = pause,
): Promise<DeliveryRecord> {
  if (!isGuid(id)) throw new AppError('delivery-not-found')
  const deliveryId = parseDeliveryId(id)
  const read = async (): Promise<DeliveryRecord | undefined> => {
    const record = await deliveries.find(deliveryId)
    if (record !== undefined) return record
    const pending = await deliveryLog.pending(tenant, deliveryId)
    if (pending === undefined) return undefined
    const subscription = await subscriptions.find(pending.tenant, pending.subscriptionId)
    return { ...pendingDelivery({ ...pending, url: subscription?.url ?? '' }), body: null }
  }
  let found = await read()
  // Delivery ids are UUIDv8 (RFC 9562, section 5.8), so no other GUID is worth the wait.
  if (found === undefined && deliveryId.charAt(14) === '8') {
    await wait(LOGGED_WITHIN_MS)
    found = await read()
  }
  if (found?.tenant !== tenant) throw new AppError('delivery-not-found')
  return found
}
