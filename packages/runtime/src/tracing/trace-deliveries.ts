import type { Delivery } from '@switchhook/contracts'
import { type SpanAttributes, spanned, type Tracing } from './span.ts'

/** Span attributes of a delivery: ids, never a URL, a header or a body. */
export const deliveryAttributes = (delivery: Delivery): SpanAttributes => ({
  'messaging.system': 'rabbitmq',
  'messaging.message.id': delivery.deliveryId,
  'switchhook.delivery_id': delivery.deliveryId,
  'switchhook.subscription_id': delivery.subscriptionId,
  'switchhook.event_id': delivery.eventId,
  'switchhook.event_type': delivery.eventType,
  ...(delivery.tenant !== null && { 'switchhook.tenant': delivery.tenant }),
})

/** Adds a span for the first publish of a delivery, which carries it along: every attempt is a child of it. */
export function tracePublishDelivery(
  tracing: Tracing,
  publish: (delivery: Delivery) => Promise<void>,
): (delivery: Delivery) => Promise<void> {
  if (!tracing.isExporting) return publish
  return (delivery) =>
    spanned(
      tracing,
      {
        name: 'send switchhook.delivery',
        kind: 'producer',
        parent: delivery.traceparent,
        attributes: () => ({
          ...deliveryAttributes(delivery),
          'messaging.operation.name': 'send',
          'messaging.operation.type': 'send',
          'messaging.destination.name': 'switchhook.delivery',
        }),
      },
      ({ traceparent }) => publish({ ...delivery, traceparent }),
    )
}
