import type { DeliveryId } from '../ids.ts'
import type { PlatformEvent } from './event.ts'

/** The body of every webhook delivery (specification, "Delivery envelope"). */
export interface Envelope {
  readonly deliveryId: string
  readonly eventType: string
  readonly occurredAt: string
  readonly tenant: string | null
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * Prepares the webhook bodies of one event. The part that all its deliveries share is serialised once. Every attempt
 * POSTs exactly the resulting bytes.
 */
export function envelopesOf(event: PlatformEvent): (deliveryId: DeliveryId) => Buffer {
  const { eventType, occurredAt, tenant, data } = event
  const shared = JSON.stringify({ eventType, occurredAt, tenant, data }).slice(1)
  return (deliveryId) => Buffer.from(`{"deliveryId":"${deliveryId}",${shared}`)
}
