import { type PlatformEvent, traceIdOfEvent } from '@switchhook/contracts'
import { spanned, type Tracing } from '@switchhook/runtime'

/** Adds a span around the fan-out of an event, and so a trace context: an event without one starts a trace. */
export function traceEvents(
  tracing: Tracing,
  handle: (event: PlatformEvent) => Promise<void>,
): (event: PlatformEvent) => Promise<void> {
  return (event) =>
    spanned(
      tracing,
      {
        name: 'process switchhook.events',
        kind: 'consumer',
        parent: event.traceparent,
        traceId: event.traceparent === undefined ? traceIdOfEvent(event.eventId) : undefined,
        attributes: () => ({
          'messaging.system': 'rabbitmq',
          'messaging.operation.name': 'process',
          'messaging.operation.type': 'process',
          'messaging.destination.name': 'fanout.events',
          'messaging.message.id': event.eventId,
          'switchhook.event_id': event.eventId,
          'switchhook.event_type': event.eventType,
          ...(event.tenant !== null && { 'switchhook.tenant': event.tenant }),
        }),
      },
      ({ traceparent }) => handle({ ...event, traceparent }),
    )
}
