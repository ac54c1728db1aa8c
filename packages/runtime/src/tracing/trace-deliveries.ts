import type { Delivery } from '@switchhook/contracts'
import { type SpanAttributes, spanned, type Tracing } from './tracing.ts'

/** Span attributes of a delivery: ids, never a URL, a header or a body. */
export function deliveryAttributes({
  deliveryId,
  subscriptionId,
  eventId,
  eventType,
  tenant,
}: Delivery): SpanAttributes {
  return {
    'messaging.system': 'rabbitmq',
    'messaging.message.id': deliveryId,
    'switchhook.delivery_id': deliveryId,
    'switchhook.subscription_id': subscriptionId,
    'switchhook.event_id': eventId,
    'switchhook.event_type': eventType,
    ...(tenant !== null && { 'switchhook.tenant': tenant }),
  }
}

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
