import {
  DELIVERY_HEADERS,
  describeEventTypes,
  EVENT_CATALOGUE,
  EVENT_TYPES,
  type EventType,
  REQUIRED_DELIVERY_HEADERS,
} from '@switchhook/contracts'
import { type Components, describedBy } from '../../http/openapi/components.ts'
import { DELIVERY_DESCRIPTION } from '../../http/openapi/document-texts.ts'
import { component, type Schema } from '../../http/schema.ts'
import { envelopeSchema } from './delivery-schema.ts'

/** The name of its message in the AsyncAPI document. */
const nameOf = (eventType: EventType): string => {
  const { name } = EVENT_CATALOGUE[eventType]
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`
}

/** A delivery of one event type. `enum` with one value, because generators understand it better than `const`. */
const deliverySchemaOf = (eventType: EventType): Schema =>
  component(`${nameOf(eventType)}Delivery`, {
    ...envelopeSchema,
    description: `${EVENT_CATALOGUE[eventType].title}.`,
    properties: {
      ...envelopeSchema.properties,
      eventType: { ...envelopeSchema.properties.eventType, enum: [eventType], examples: [eventType] },
      data: component(nameOf(eventType), EVENT_CATALOGUE[eventType].schema),
    },
  })

const webhookDeliverySchema = component('WebhookDelivery', {
  description: 'The body of a delivery. `eventType` tells which `data` it has; ignore the types that you do not know.',
  oneOf: EVENT_TYPES.map(deliverySchemaOf),
  discriminator: {
    propertyName: 'eventType',
    mapping: Object.fromEntries(
      EVENT_TYPES.map((eventType) => [eventType, `#/components/schemas/${nameOf(eventType)}Delivery`]),
    ),
  },
})

const RETRIED = {
  description: 'Retried on the schedule, like a connection failure. Parked if the last attempt fails.',
} as const

/** The request that a subscriber's endpoint receives: the only operation that clients implement. */
export const deliveryWebhook = (components: Components): Schema => ({
  operationId: 'receiveDelivery',
  summary: 'A delivery, as your endpoint receives it',
  description: DELIVERY_DESCRIPTION,
  // Deliveries are authenticated by their signature, not by a token.
  security: [],
  parameters: Object.entries(DELIVERY_HEADERS).map(([name, schema]) => {
    const required = REQUIRED_DELIVERY_HEADERS.some((each) => each === name)
    return { name, in: 'header', required, ...describedBy(schema) }
  }),
  requestBody: {
    required: true,
    content: {
      'application/json; charset=utf-8': {
        schema: components.schema(webhookDeliverySchema, 'answer'),
        examples: Object.fromEntries(
          describeEventTypes().map(({ type, description, example }) => [
            type,
            { summary: description, value: example },
          ]),
        ),
      },
    },
  },
  responses: {
    '2XX': { description: 'Acknowledged. The response body is ignored.' },
    '3XX': { description: 'Parked immediately. Redirects are never followed.' },
    408: RETRIED,
    425: RETRIED,
    429: RETRIED,
    '4XX': { description: 'Any other 4xx: parked immediately. You can send the delivery again.' },
    '5XX': RETRIED,
  },
})
