import { traceIdOfEvent } from '@switchhook/contracts'
import { spanned, type Tracing, tracePublishDelivery } from '@switchhook/runtime'
import type { HandleEvent } from './handle-event.ts'

/** `queue`: from which the event was consumed, alone or in a packet. */
export type HandleFromQueue = (...its: [...Parameters<HandleEvent>, queue: string]) => Promise<number>

/** Adds a span around the fan-out of an event, and so a trace context: an event without one starts a trace. Each delivery gets a span. */
export const traceEvents =
  (tracing: Tracing, handle: HandleEvent): HandleFromQueue =>
  (event, publishDelivery, queue) =>
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
          'messaging.destination.name': queue,
          'messaging.message.id': event.eventId,
          'switchhook.event_id': event.eventId,
          'switchhook.event_type': event.eventType,
          ...(event.tenant !== null && { 'switchhook.tenant': event.tenant }),
        }),
      },
      ({ traceparent }) => handle({ ...event, traceparent }, tracePublishDelivery(tracing, publishDelivery)),
    )
