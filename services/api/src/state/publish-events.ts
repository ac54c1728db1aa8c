import { type PlatformEvent, traceIdOf, traceIdOfEvent } from '@switchhook/contracts'
import type { Logger, Tracing } from '@switchhook/runtime'

/** Publishes stored events, each in the trace of the request that caused it. An event without a request starts a new trace. */
export function createPublishEvents(deps: {
  readonly publish: (events: readonly PlatformEvent[]) => Promise<void>
  readonly tracing: Tracing
  readonly log: Pick<Logger, 'debug'>
}): (events: readonly PlatformEvent[]) => Promise<void> {
  return async (events) => {
    const spans = events.map((event) => deps.tracing.begin(spanOf(event)))
    const traced = events.map((event, at) => ({ ...event, traceparent: spans[at]?.traceparent ?? '' }))
    try {
      await deps.publish(traced)
    } catch (error) {
      for (const span of spans) span.end(error instanceof Error ? error.name : 'error')
      throw error
    }
    for (const span of spans) span.end()
    for (const { traceparent, eventId, eventType, tenant } of traced) {
      deps.log.debug('event relayed', { traceId: traceIdOf(traceparent), eventId, eventType, tenant })
    }
  }
}

const spanOf = ({ eventId, eventType, tenant, traceparent }: PlatformEvent): Parameters<Tracing['begin']>[0] => ({
  name: 'send switchhook.events',
  kind: 'producer',
  parent: traceparent,
  traceId: traceparent === undefined ? traceIdOfEvent(eventId) : undefined,
  attributes: () => ({
    'messaging.system': 'rabbitmq',
    'messaging.operation.name': 'send',
    'messaging.operation.type': 'send',
    'messaging.destination.name': 'switchhook.events',
    'messaging.rabbitmq.destination.routing_key': eventType,
    'messaging.message.id': eventId,
    'switchhook.event_id': eventId,
    'switchhook.event_type': eventType,
    ...(tenant !== null && { 'switchhook.tenant': tenant }),
  }),
})
