import type { DeliveryId, Tenant } from '../ids.ts'
import type { PlatformEvent } from './event.ts'

/** The body of every webhook delivery (specification, "Delivery envelope"). */
export interface Envelope {
  readonly deliveryId: string
  readonly eventType: string
  readonly occurredAt: string
  readonly tenant: Tenant
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * Prepares the webhook bodies of one event. The part that all its deliveries share is serialised once. Every attempt
 * POSTs exactly the resulting bytes.
 * @param dataJson the data of the event, serialised: parsing that of the journal could change numbers (`1.0`)
 */
export function envelopesOf(
  { eventType, occurredAt, tenant }: Pick<PlatformEvent, 'eventType' | 'occurredAt' | 'tenant'>,
  dataJson: string,
): (deliveryId: DeliveryId) => Buffer {
  const shared = `${JSON.stringify({ eventType, occurredAt, tenant }).slice(1, -1)},"data":${dataJson}}`
  return (deliveryId) => Buffer.from(`{"deliveryId":"${deliveryId}",${shared}`)
}
