import { randomUUID } from 'node:crypto'
import { isGuid } from '../ids.ts'
import { agentStatusSchema } from './agent-status-schema.ts'
import { callStatusSchema } from './call-status-schema.ts'
import { EVENT_TYPES, type EventType } from './event.ts'
import { NOTICES } from './notice-schemas.ts'
import { describedObject, guid, nullable, text, time } from './schema-parts.ts'

/**
 * The catalogue of event types. The API documents, `GET /webhooks/event-types` and test deliveries are built from it.
 * CONTRIBUTING.md says how to add one. In its schema, enum values are numbers (`numberedSchema`).
 */
interface Entry {
  readonly name: string
  readonly title: string
  /** Schema of `data`. */
  readonly schema: Readonly<Record<string, unknown>> & {
    readonly description: string
    readonly examples: readonly [{ readonly occurredAt: string }]
  }
}

export const EVENT_CATALOGUE: Readonly<Record<EventType, Entry>> = {
  'call.status': { name: 'callStatus', title: "A call's state changed", schema: callStatusSchema },
  'agent.status': { name: 'agentStatus', title: "An agent's state changed", schema: agentStatusSchema },
  'webhook.endpoint.failing': {
    name: 'endpointFailing',
    title: 'An endpoint is failing',
    schema: NOTICES.endpointFailing,
  },
  'webhook.endpoint.recovered': {
    name: 'endpointRecovered',
    title: 'An endpoint recovered',
    schema: NOTICES.endpointRecovered,
  },
  'webhook.delivery.parked': { name: 'deliveryParked', title: 'A delivery was parked', schema: NOTICES.deliveryParked },
  'webhook.parked.limit': { name: 'parkedLimit', title: 'Too many parked deliveries', schema: NOTICES.parkedLimit },
  'webhook.held.limit': { name: 'heldLimit', title: 'Many held deliveries', schema: NOTICES.heldLimit },
}

/** JSON Schema 2020-12 of the envelope of one event type. @param data the schema of its data, or a reference to it */
export function envelopeSchemaOf(eventType: EventType, data: object): object {
  return describedObject('Body of a delivery. The bytes are identical on every attempt.', {
    deliveryId: guid(
      'Unique per delivery and identical on every retry. Use it as an idempotency key. Same as `X-SVC-Delivery`.',
    ),
    eventType: { type: 'string', const: eventType, description: 'Same as `X-SVC-Event`.' },
    occurredAt: time('When the event occurred. Identical on every retry.'),
    tenant: nullable(text('The tenant of the event; null for an event of the installation itself.')),
    data,
  })
}

export const EXAMPLE_DELIVERY_ID = 'c2a1f0de-5d0e-5a7f-9c0e-0d2f4a1b6c11'

export const exampleEnvelopeOf = (eventType: EventType, data: { readonly occurredAt: string }): object => ({
  deliveryId: EXAMPLE_DELIVERY_ID,
  eventType,
  occurredAt: data.occurredAt,
  tenant: 'acme',
  data,
})

/** Every event type with the schema, without references, and an example of the webhook body. */
export const describeEventTypes = () =>
  EVENT_TYPES.map((type) => {
    const { title, schema } = EVENT_CATALOGUE[type]
    const [data] = schema.examples
    return {
      type,
      description: `${title}. ${schema.description}`,
      schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        title: type,
        ...envelopeSchemaOf(type, schema),
      },
      example: exampleEnvelopeOf(type, data),
    }
  })

/**
 * Example data of an event at time `at`: the documented example with new ids and shifted times, so that a receiver that
 * deduplicates by id and orders by time processes it.
 */
export function exampleDataOf(eventType: EventType, at: Date): Record<string, unknown> {
  const [example] = EVENT_CATALOGUE[eventType].schema.examples
  const shiftMs = at.getTime() - Date.parse(example.occurredAt)
  const fresh = new Map<string, string>()
  return JSON.parse(JSON.stringify(example), (_key, value: unknown) => {
    if (isGuid(value)) {
      if (!fresh.has(value)) fresh.set(value, randomUUID())
      return fresh.get(value)
    }
    if (typeof value === 'string' && MOMENT.test(value)) return new Date(Date.parse(value) + shiftMs).toISOString()
    return value
  }) as Record<string, unknown>
}

const MOMENT = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/
