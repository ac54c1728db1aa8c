import { EVENT_CATALOGUE, EVENT_TYPES, type EventType } from '@switchhook/contracts'
import type { Schema } from '../../http/schema.ts'
import { choice, completeComponent, component, count, list, moment, text } from '../../http/schema.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'
import { attemptSchema, deliverySchema, envelopeSchema, eventIdSchema } from './delivery-schema.ts'

const nameOf = (eventType: EventType): string => {
  const { name } = EVENT_CATALOGUE[eventType]
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`
}

/** The data of an event type, under the name of its message in the AsyncAPI document. */
const dataSchemaOf = (eventType: EventType): Schema => component(nameOf(eventType), EVENT_CATALOGUE[eventType].schema)

/** A delivery of one event type. `enum` with one value, because generators understand it better than `const`. */
const deliverySchemaOf = (eventType: EventType): Schema =>
  component(`${nameOf(eventType)}Delivery`, {
    ...envelopeSchema,
    description: `${EVENT_CATALOGUE[eventType].title}.`,
    properties: {
      ...envelopeSchema.properties,
      eventType: { ...envelopeSchema.properties.eventType, enum: [eventType], examples: [eventType] },
      data: dataSchemaOf(eventType),
    },
  })

/** The body of a delivery to an endpoint. */
export const webhookDeliverySchema = component('WebhookDelivery', {
  description: 'The body of a delivery. `eventType` tells which `data` it has; ignore the types that you do not know.',
  oneOf: EVENT_TYPES.map(deliverySchemaOf),
  discriminator: {
    propertyName: 'eventType',
    mapping: Object.fromEntries(
      EVENT_TYPES.map((eventType) => [eventType, `#/components/schemas/${nameOf(eventType)}Delivery`]),
    ),
  },
})

const place = text('A place in the stream.', '1795192262123-417')

const about = { eventId: eventIdSchema, eventType: choice(EVENT_TYPES, 'The event type.', 'call.status') }

const event = {
  ...about,
  occurredAt: moment('When the event occurred, in UTC.'),
  data: {
    type: ['object', 'null'],
    description: 'The data of the event, as its deliveries have it; null if it is larger than 16 KiB.',
  },
  subscriptions: list('The subscriptions that the event went to, at most 100.', subscriptionIdSchema),
  subscriptionCount: count('The number of these subscriptions.', 1),
}

const { attempt, at, outcome, status, durationMs } = attemptSchema.properties
const { deliveryId, subscriptionId, state } = deliverySchema.properties
const attempted = { deliveryId, subscriptionId, ...about, attempt, at, outcome, status, durationMs, state }

const gap = {
  after: { ...place, description: 'Events or attempts after this place may be missing.' },
  resumedAt: { ...place, description: 'The stream continues at this place.' },
}

/** The data of each message of the live stream, by the name of the message. */
export const streamMessages = {
  event: completeComponent('StreamEvent', 'An event of the live stream.', event),
  attempt: completeComponent(
    'StreamAttempt',
    'An attempt in the live stream, and the state of its delivery after it.',
    attempted,
  ),
  gap: completeComponent('StreamGap', 'Something is missing in the live stream: read lists and states again.', gap),
  place: completeComponent('StreamPlace', 'The place that the live stream has reached.', { place }),
}
