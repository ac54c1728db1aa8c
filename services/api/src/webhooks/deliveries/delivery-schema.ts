import { EVENT_TYPES, PARKED_REASONS, UNREACHABLE_REASONS } from '@switchhook/contracts'
import type { DeliveryState } from '@switchhook/store'
import { component } from '../../http/component.ts'
import { pageSchema } from '../../http/page-schema.ts'
import type { Schema } from '../../http/route.ts'
import { UNREACHABLE_TEXT } from '../subscriptions/endpoint-health-schema.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'

export const DELIVERY_STATES = [
  'pending',
  'waiting',
  'held',
  'acknowledged',
  'parked',
  'withdrawn',
  'expired',
] as const satisfies readonly DeliveryState[]

export const moment = (description: string): Schema => ({
  type: 'string',
  format: 'date-time',
  description,
  examples: ['2026-11-20T17:06:01.173Z'],
})

export const momentOrNull = (description: string): Schema => ({ ...moment(description), type: ['string', 'null'] })

export const deliveryIdSchema = {
  type: 'string',
  format: 'uuid',
  description: 'The id of the delivery, sent as `X-SVC-Delivery`. It is the same on every attempt.',
  examples: ['6f9c2f0e-54c6-5a0e-9b57-6d1f0c6f5a0b'],
} as const

export const eventIdSchema = {
  ...deliveryIdSchema,
  description: 'The id of the event, sent as `X-SVC-Event-Id`. All deliveries of an event share it.',
  examples: ['0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'],
} as const

export const parkedReasonSchema = {
  type: ['string', 'null'],
  enum: [...PARKED_REASONS, null],
  description:
    '`exhausted`: the schedule ended without an acknowledgement, a cool-down lasted too long after the last slot, or more deliveries were held than may be. ' +
    '`rejected`: the endpoint answered with a status that is not retried.',
  examples: ['exhausted'],
} as const

export const attemptSchema = component('Attempt', {
  type: 'object',
  description: 'One POST to the endpoint.',
  required: ['run', 'slot', 'attempt', 'at', 'durationMs', 'outcome', 'status'],
  properties: {
    run: {
      type: 'integer',
      minimum: 1,
      description: 'The run of the schedule. Sending the delivery again starts the next run.',
      examples: [1],
    },
    slot: {
      type: 'integer',
      minimum: 0,
      description: 'The position in the schedule: 0 is the first attempt, k follows the k-th wait.',
      examples: [0],
    },
    attempt: {
      type: 'integer',
      minimum: 1,
      description: 'The number of the attempt, over all runs; sent as `X-SVC-Attempt`.',
      examples: [1],
    },
    at: moment('When the POST began, in UTC.'),
    durationMs: { type: 'number', minimum: 0, description: 'The duration in milliseconds.', examples: [42] },
    outcome: {
      type: 'string',
      enum: ['delivered', 'answered', ...UNREACHABLE_REASONS],
      description: `\`delivered\`: answered with a 2xx. \`answered\`: answered with any other status. ${UNREACHABLE_TEXT}`,
      examples: ['answered'],
    },
    status: {
      type: ['integer', 'null'],
      description: 'The HTTP status; null if there was no answer.',
      examples: [503],
    },
    answer: {
      type: 'string',
      description:
        'The beginning of the body of an answer other than 2xx, as one line of at most 256 bytes. Likely secrets and mail or SIP addresses (`…@…`) are ' +
        'removed; phone numbers and IP addresses are not. Absent if there was no body, it was not text, or it did not arrive in time.',
      examples: ['{"error":"maintenance until 18:00"}'],
    },
  },
})

export const envelopeSchema = component('DeliveryEnvelope', {
  type: 'object',
  description: 'The body of a delivery.',
  required: ['deliveryId', 'eventType', 'occurredAt', 'tenant', 'data'],
  properties: {
    deliveryId: deliveryIdSchema,
    eventType: { type: 'string', description: 'The event type, sent as `X-SVC-Event`.', examples: ['call.status'] },
    occurredAt: moment('When the event occurred, in UTC. Unchanged on a retry.'),
    tenant: { type: ['string', 'null'], description: 'The tenant of the event.', examples: ['acme'] },
    data: { type: 'object', description: 'The data of the event. Its schema depends on the event type.' },
  },
})

const summary = {
  type: 'object',
  required: [
    'deliveryId',
    'subscriptionId',
    'eventId',
    'eventType',
    'url',
    'state',
    'parkedReason',
    'parkedAt',
    'nextAttemptAt',
    'run',
    'test',
    'firstDueAt',
    'attempts',
  ],
  properties: {
    deliveryId: deliveryIdSchema,
    subscriptionId: subscriptionIdSchema,
    eventId: eventIdSchema,
    eventType: { type: 'string', enum: EVENT_TYPES, description: 'The event type, sent as `X-SVC-Event`.' },
    url: {
      type: ['string', 'null'],
      description:
        'The endpoint. null for a pull subscription, or if the subscription was deleted before the first attempt was finished.',
      examples: ['https://client.example/hooks/calls'],
    },
    state: {
      type: 'string',
      enum: DELIVERY_STATES,
      description:
        '`pending`: the first attempt of this run is due or in progress. `waiting`: the next attempt is scheduled, because an attempt failed or could not be ' +
        'made, for example in a cool-down (`attempts` can be empty then). `acknowledged`: answered with a 2xx. `parked`: no longer retried, but kept. ' +
        '`withdrawn`: never sent, because the subscription was deleted, disabled or unsubscribed from the event type before the first attempt. ' +
        '`expired`: not sent any more, because the event was older than `expireAfterSeconds` of the subscription.',
      examples: ['parked'],
    },
    parkedReason: parkedReasonSchema,
    parkedAt: momentOrNull('When the delivery was parked, in UTC.'),
    nextAttemptAt: momentOrNull('Approximate time of the next attempt, in UTC; null if none is scheduled.'),
    run: {
      type: 'integer',
      minimum: 1,
      description: 'The run of the schedule: 1 at first, one more each time the delivery is sent again.',
      examples: [1],
    },
    test: {
      type: 'boolean',
      description: 'Whether this is a test delivery (`POST …/test`) and not an event.',
      examples: [false],
    },
    firstDueAt: moment('When the first attempt of this run was due, in UTC.'),
    attempts: { type: 'array', description: 'All attempts, the oldest first.', items: attemptSchema },
  },
} as const

const deliverySummarySchema = component('DeliverySummary', {
  ...summary,
  description: 'The delivery of one event to one subscription.',
})

export const deliverySchema = component('Delivery', {
  ...summary,
  description: 'The delivery of one event to one subscription, with its envelope.',
  required: [...summary.required, 'envelope', 'envelopeDropped'],
  properties: {
    ...summary.properties,
    envelope: {
      description:
        'The body of the delivery. It is stored when the delivery is first parked, and kept while it is sent again. null if the delivery was ' +
        'never parked, or if `envelopeDropped` is true.',
      oneOf: [envelopeSchema, { type: 'null' }],
    },
    envelopeDropped: {
      type: 'boolean',
      description:
        'true if the delivery is parked but its envelope is no longer kept, because the subscription has more parked deliveries than its `parked.limit`. ' +
        'Such a delivery cannot be sent again (409 `delivery-without-body`).',
      examples: [false],
    },
  },
})

export const deliveryPageSchema = pageSchema('DeliveryPage', 'A page of deliveries.', deliverySummarySchema)
