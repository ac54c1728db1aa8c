import { type PlatformEvent, traceIdOf, traceIdOfEvent } from '@switchhook/contracts'
import { type Logger, spanned, type Tracing } from '@switchhook/runtime'

/** Publishes a stored event in the trace of the request that caused it. An event without a request starts a new trace. */
export const createPublishEvent =
  ({
    publish,
    tracing,
    log,
  }: {
    readonly publish: (event: PlatformEvent) => Promise<void>
    readonly tracing: Tracing
    readonly log: Pick<Logger, 'debug'>
  }): ((event: PlatformEvent) => Promise<void>) =>
  (event) =>
    spanned(tracing, spanOf(event), async ({ traceparent }) => {
      await publish({ ...event, traceparent })
      const { eventId, eventType, tenant } = event
      log.debug('event relayed', { traceId: traceIdOf(traceparent), eventId, eventType, tenant })
    })

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
