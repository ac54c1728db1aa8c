import { EVENT_TYPES, type EventType, MAX_EVENT_BYTES, MAX_EVENT_DEPTH, platformEventSchema } from '../events/event.ts'
import { EVENT_CATALOGUE, EXAMPLE_DELIVERY_ID, envelopeSchemaOf, exampleEnvelopeOf } from '../events/event-catalogue.ts'
import { INSTALLATION_HEADER } from '../installation.ts'
import { DELIVERY_HEADERS, REQUIRED_DELIVERY_HEADERS } from './delivery-headers.ts'

const EXAMPLE_EVENT_ID = '7d0f4c1a-3b52-4f6e-8a90-6d1c2b3a4f50'

const EVENT_EXAMPLE = {
  eventId: '9b2f1c54-3c1e-4d58-9d0b-6f6a5b8f2f10',
  eventType: 'agent.status',
  occurredAt: '2026-11-20T17:06:01.173Z',
  tenant: 'acme',
  data: { agentUri: 'sip:alice@acme.example', statusCode: 2 },
}

const SIGNATURE_EXAMPLE = {
  'webhook-timestamp': 1_795_194_361,
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}

/** Builds the AsyncAPI 3 document: events on the exchange, which any platform may publish, and webhook deliveries. */
export function describeEvents(): object {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Switchhook events and webhooks',
      version: '1.0.0',
      description:
        'Switchhook publishes contact-center events on a RabbitMQ exchange and delivers each event to every enabled subscription of its tenant. Delivery is at least once; events can arrive out of order.',
    },
    defaultContentType: 'application/json',
    channels: {
      webhook: {
        address: '/',
        title: 'Webhooks',
        description: 'The URL of a subscription. The address is relative to its host.',
        messages: byName((_eventType, name) => ({ $ref: `#/components/messages/${name}` })),
        bindings: { http: {} },
      },
      events: {
        address: 'switchhook.events',
        title: 'Events on the broker',
        description:
          'Topic exchange; the routing key is the event type. Any platform may publish its own events here. A queue bound to this exchange receives those events and copies of the events that Switchhook publishes, including notices (`webhook.…`). Copies carry the header `switchhook-copy: true` and are not delivered again. They begin at most a second after the first queue is bound to their event type. A message that does not match the schema is kept in the queue `quarantine`, with the reason.',
        messages: { event: { $ref: '#/components/messages/event' } },
        bindings: { amqp: { is: 'routingKey', exchange: { name: 'switchhook.events', type: 'topic', durable: true } } },
      },
    },
    operations: {
      deliver: {
        action: 'send',
        channel: { $ref: '#/channels/webhook' },
        summary:
          'POSTs a delivery. Any 2xx response acknowledges it. Connection failures, timeouts, 408, 425, 429 and 5xx are retried on the schedule. Any other response parks the delivery.',
        bindings: { http: { method: 'POST' } },
      },
      receiveEvent: {
        action: 'receive',
        channel: { $ref: '#/channels/events' },
        summary:
          'Creates the deliveries of an event. Publishing the same eventId again creates the same deliveries, with the same ids.',
      },
    },
    components: {
      messages: {
        event: {
          name: 'event',
          title: 'An event',
          contentType: 'application/json',
          headers: {
            type: 'object',
            properties: {
              [INSTALLATION_HEADER]: {
                type: 'string',
                format: 'uuid',
                description:
                  'Id of the Switchhook installation that published the event. Only Switchhook sets it; other platforms leave it out. With the id of a different installation, fan-out pauses until an operator adopts or discards that id.',
              },
            },
          },
          payload: { $ref: '#/components/schemas/event' },
          bindings: { amqp: { contentEncoding: 'utf-8', messageType: 'the event type' } },
          examples: [{ name: 'agentStatus', payload: EVENT_EXAMPLE }],
        },
        ...byName(deliveryMessage),
      },
      schemas: {
        event: {
          ...platformEventSchema,
          description: `Persistent, \`messageId\` = eventId, \`type\` = eventType. Unknown fields are ignored. At most ${MAX_EVENT_BYTES / 1024} KiB and ${MAX_EVENT_DEPTH} levels. Numbers in \`data\` are passed on as written, half of a surrogate pair as U+FFFD.`,
          examples: [EVENT_EXAMPLE],
        },
        ...byName((eventType) => EVENT_CATALOGUE[eventType].schema),
      },
    },
  }
}

const byName = (of: (eventType: EventType, name: string) => object): Record<string, object> =>
  Object.fromEntries(
    EVENT_TYPES.map((eventType) => {
      const { name } = EVENT_CATALOGUE[eventType]
      return [name, of(eventType, name)]
    }),
  )

function deliveryMessage(eventType: EventType, name: string): object {
  const { title, schema } = EVENT_CATALOGUE[eventType]
  return {
    name: eventType,
    title,
    contentType: 'application/json; charset=utf-8',
    headers: {
      type: 'object',
      required: REQUIRED_DELIVERY_HEADERS,
      properties: {
        ...DELIVERY_HEADERS,
        'X-SVC-Event': { type: 'string', const: eventType, description: DELIVERY_HEADERS['X-SVC-Event'].description },
      },
    },
    payload: envelopeSchemaOf(eventType, { $ref: `#/components/schemas/${name}` }),
    examples: schema.examples.map((data) => ({
      name,
      headers: {
        'X-SVC-Event': eventType,
        'X-SVC-Event-Id': EXAMPLE_EVENT_ID,
        'X-SVC-Delivery': EXAMPLE_DELIVERY_ID,
        'X-SVC-Attempt': 1,
        'webhook-id': EXAMPLE_DELIVERY_ID,
        ...SIGNATURE_EXAMPLE,
      },
      payload: exampleEnvelopeOf(eventType, data),
    })),
  }
}
