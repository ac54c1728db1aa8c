import { isGuid } from '../ids.ts'
import { agentStatusSchema } from './agent-status-schema.ts'
import { callStatusSchema } from './call-status-schema.ts'
import { EVENT_TYPES, type EventType } from './event.ts'
import {
  deliveryParkedSchema,
  endpointFailingSchema,
  endpointRecoveredSchema,
  parkedLimitSchema,
} from './notice-schemas.ts'

/** The one place that says what each event type is; the documents, the catalogue and test deliveries are made of it. */
interface Entry {
  /** In the AsyncAPI document. */
  readonly name: string
  readonly title: string
  /** Of `data`; with at least one example. */
  readonly schema: Readonly<Record<string, unknown>> & {
    readonly description: string
    readonly examples: readonly { readonly occurredAt: string }[]
  }
}

export const EVENT_CATALOGUE: Readonly<Record<EventType, Entry>> = {
  'call.status': { name: 'callStatus', title: "A call's state has changed", schema: callStatusSchema },
  'agent.status': { name: 'agentStatus', title: "An agent's state has changed", schema: agentStatusSchema },
  'webhook.endpoint.failing': {
    name: 'endpointFailing',
    title: 'An endpoint keeps failing',
    schema: endpointFailingSchema,
  },
  'webhook.endpoint.recovered': {
    name: 'endpointRecovered',
    title: 'An endpoint answers again',
    schema: endpointRecoveredSchema,
  },
  'webhook.delivery.parked': {
    name: 'deliveryParked',
    title: 'A delivery was given up',
    schema: deliveryParkedSchema,
  },
  'webhook.parked.limit': {
    name: 'parkedLimit',
    title: 'More deliveries are parked than are kept whole',
    schema: parkedLimitSchema,
  },
}

const envelopeProperties = {
  deliveryId: {
    type: 'string',
    format: 'uuid',
    description:
      'Unique per delivery, identical on every retry: use it as an idempotency key. Equals `X-SVC-Delivery`.',
  },
  eventType: { type: 'string', enum: EVENT_TYPES, description: 'Equals `X-SVC-Event`.' },
  occurredAt: { type: 'string', format: 'date-time', description: 'When the event occurred; unchanged on retry.' },
  tenant: { type: ['string', 'null'], description: 'The tenant that the event belongs to.' },
  data: { type: 'object', description: 'Specific to the event type.' },
}

/** JSON Schema 2020-12 of the envelope of one event type. @param data The schema of its data, or a reference to it */
export const envelopeSchemaOf = (eventType: EventType, data: object): object => ({
  type: 'object',
  description: 'The envelope. Its bytes are identical on every attempt.',
  required: Object.keys(envelopeProperties),
  properties: {
    ...envelopeProperties,
    eventType: { type: 'string', const: eventType, description: 'Equals `X-SVC-Event`.' },
    data,
  },
})

export const EXAMPLE_EVENT_ID = '7d0f4c1a-3b52-4f6e-8a90-6d1c2b3a4f50'
export const EXAMPLE_DELIVERY_ID = 'c2a1f0de-5d0e-5a7f-9c0e-0d2f4a1b6c11'

export const exampleEnvelopeOf = (eventType: EventType, data: { readonly occurredAt: string }): object => ({
  deliveryId: EXAMPLE_DELIVERY_ID,
  eventType,
  occurredAt: data.occurredAt,
  tenant: 'acme',
  data,
})

export interface EventTypeDescription {
  readonly type: EventType
  readonly description: string
  /** JSON Schema 2020-12 of the envelope, whole, without references. */
  readonly schema: object
  /** An envelope. */
  readonly example: object
}

/** What can be subscribed to, and what then arrives. */
export const describeEventTypes = (): EventTypeDescription[] =>
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
      example: data === undefined ? {} : exampleEnvelopeOf(type, data),
    }
  })

/**
 * The data of an event that might have occurred at `at`: the documented example with ids that nobody has seen and with its
 * times moved, so that a receiver that remembers ids and orders by time takes it for new.
 */
export function exampleDataOf(
  eventType: EventType,
  { at, newGuid }: { readonly at: Date; readonly newGuid: () => string },
): Record<string, unknown> {
  const [example] = EVENT_CATALOGUE[eventType].schema.examples
  const shiftMs = at.getTime() - Date.parse(example?.occurredAt ?? at.toISOString())
  const fresh = new Map<string, string>()
  const freshGuid = (known: string): string => {
    const guid = fresh.get(known) ?? newGuid()
    fresh.set(known, guid)
    return guid
  }
  const renew = (value: unknown): unknown => {
    if (isGuid(value)) return freshGuid(value)
    if (typeof value === 'string' && MOMENT.test(value)) return new Date(Date.parse(value) + shiftMs).toISOString()
    if (Array.isArray(value)) return value.map(renew)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, renew(member)]))
  }
  return renew(example) as Record<string, unknown>
}

const MOMENT = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/
