import { type Delivery, type PlatformEvent, traceIdOfEvent } from '@switchhook/contracts'
import { type SpanAttributes, type SpanStart, spanned, type Tracing } from './span.ts'

/** The span in which an event is published or handled. An event without a trace context starts a trace. */
export const eventSpan = (
  { eventId, eventType, tenant, traceparent }: PlatformEvent,
  operation: 'send' | 'process',
  destination: string,
): SpanStart => ({
  name: `${operation} switchhook.events`,
  kind: operation === 'send' ? 'producer' : 'consumer',
  parent: traceparent,
  traceId: traceparent === undefined ? traceIdOfEvent(eventId) : undefined,
  attributes: () => ({
    'messaging.system': 'rabbitmq',
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    'messaging.destination.name': destination,
    ...(operation === 'send' && { 'messaging.rabbitmq.destination.routing_key': eventType }),
    'messaging.message.id': eventId,
    'switchhook.event_id': eventId,
    'switchhook.event_type': eventType,
    ...(tenant !== null && { 'switchhook.tenant': tenant }),
  }),
})

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
