import type { DeliveryId } from '../ids.ts'
import type { Tenant } from '../tenant.ts'
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
 */
export const envelopesOf = (event: PlatformEvent): ((deliveryId: DeliveryId) => Buffer) =>
  envelopesWith(event, JSON.stringify(event.data))

/**
 * Like `envelopesOf`, for data that is serialised already, such as that of the journal. The same text always gives the
 * same bytes; parsing it could change numbers (`1.0`).
 */
export function envelopesWith(
  { eventType, occurredAt, tenant }: Pick<PlatformEvent, 'eventType' | 'occurredAt' | 'tenant'>,
  dataJson: string,
): (deliveryId: DeliveryId) => Buffer {
  const shared = `${JSON.stringify({ eventType, occurredAt, tenant }).slice(1, -1)},"data":${dataJson}}`
  return (deliveryId) => Buffer.from(`{"deliveryId":"${deliveryId}",${shared}`)
}
