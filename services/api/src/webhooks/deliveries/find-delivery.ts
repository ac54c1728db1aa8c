import { setTimeout as pause } from 'node:timers/promises'
import { AppError, type DeliveryId, isGuid, parseDeliveryId, type Tenant } from '@switchhook/contracts'
import type { DeliveryArchive, DeliveryLogReader, DeliveryRecord, PendingDelivery } from '@switchhook/store'

export interface FindDeliveryDeps {
  readonly deliveries: Pick<DeliveryArchive, 'find'>
  readonly deliveryLog: Pick<DeliveryLogReader, 'pending'>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** A delivery has a record once its first slot is settled. Until then, only the delivery log knows it. */
export type FoundDelivery =
  | { readonly kind: 'recorded'; readonly record: DeliveryRecord }
  | { readonly kind: 'pending'; readonly delivery: PendingDelivery }

/**
 * Fan-out collects log entries for 50 ms while first attempts are already being made, so a receiver can ask for a delivery
 * that is not logged yet. Four times as long, for a machine under load.
 */
const LOGGED_WITHIN_MS = 200

/**
 * Finds a delivery of the tenant by its id alone.
 * @throws AppError `delivery-not-found`, also for a malformed id and for a delivery of another tenant
 */
export async function findDelivery(
  { deliveries, deliveryLog, now }: FindDeliveryDeps,
  tenant: Tenant,
  id: string | undefined,
  wait: (ms: number) => Promise<void> = pause,
): Promise<FoundDelivery> {
  if (!isGuid(id)) throw new AppError('delivery-not-found')
  const deliveryId = parseDeliveryId(id)
  const look = async (): Promise<FoundDelivery | 'foreign' | undefined> => {
    const record = await deliveries.find(deliveryId)
    if (record !== undefined) return record.tenant === tenant ? { kind: 'recorded', record } : 'foreign'
    const delivery = await deliveryLog.pending(tenant, deliveryId, now())
    return delivery && { kind: 'pending', delivery }
  }
  let found = await look()
  if (found === undefined && isDerived(deliveryId)) {
    await wait(LOGGED_WITHIN_MS)
    found = await look()
  }
  if (found === undefined || found === 'foreign') throw new AppError('delivery-not-found')
  return found
}

/** Delivery ids are UUIDv5 (RFC 9562, section 5.5), so no other GUID is worth the wait. */
const isDerived = (deliveryId: DeliveryId): boolean => deliveryId.charAt(14) === '5'
