import { type Attempt, type Delivery, envelopesOf, type Subscription } from '@switchhook/contracts'
import { aDelivery } from '@switchhook/testkit'

/** The first message of a delivery to this subscription. */
export const aDeliveryTo = ({ id, tenant, url }: Pick<Subscription, 'id' | 'tenant' | 'url'>): Delivery =>
  aDelivery({ subscriptionId: id, tenant, url })

/**
 * A delivery as listeners get it after its first POST: the event occurred at 17:00:00, and the delivery was due one second
 * later.
 */
export function aReportedDelivery(data: Readonly<Record<string, unknown>> = {}): Delivery {
  const delivery = aDelivery({ attempt: 1, firstDueAt: '2026-11-20T17:00:01.000Z' })
  const { deliveryId, tenant } = delivery
  const event = { eventType: 'call.status', occurredAt: '2026-11-20T17:00:00.000Z', tenant } as const
  return { ...delivery, body: envelopesOf(event, JSON.stringify(data))(deliveryId) }
}

/** The first attempt of such a delivery, at 17:00:03. */
export const anAttempt = (change: Partial<Attempt> = {}): Attempt => ({
  run: 1,
  slot: 0,
  attempt: 1,
  at: '2026-11-20T17:00:03.000Z',
  durationMs: 200,
  outcome: 'delivered',
  status: 204,
  ...change,
})
