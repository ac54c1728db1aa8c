import {
  type Attempt,
  DELIVERY_STATES,
  type Envelope,
  EVENT_TYPES,
  PARKED_REASONS,
  parseExactly,
  UNREACHABLE_REASONS,
} from '@switchhook/contracts'
import type { DeliveryRecord, ListedDelivery } from '@switchhook/store'
import {
  choice,
  completeComponent,
  component,
  count,
  described,
  flag,
  guid,
  integer,
  moment,
  momentOrNull,
  orNull,
  pageSchema,
  text,
} from '../../http/schema.ts'
import { UNREACHABLE_TEXT } from '../subscriptions/endpoint-health.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'

export const OUTCOMES = ['delivered', 'answered', ...UNREACHABLE_REASONS] as const

export const deliveryIdSchema = guid(
  'The id of the delivery, sent as `X-SVC-Delivery`. It is the same on every attempt.',
  '6f9c2f0e-54c6-5a0e-9b57-6d1f0c6f5a0b',
)

export const eventIdSchema = {
  ...deliveryIdSchema,
  description: 'The id of the event, sent as `X-SVC-Event-Id`. All deliveries of an event share it.',
  examples: ['0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'],
} as const

export const parkedReasonSchema = orNull(
  choice(
    PARKED_REASONS,
    '`exhausted`: the schedule ended without an acknowledgement, a cool-down lasted too long after the last slot, or more deliveries were held, or waited for a retry, than may. ' +
      '`rejected`: the endpoint answered with a status that is not retried.',
    'rejected',
  ),
)

export const attemptSchema = component('Attempt', {
  type: 'object',
  description: 'One POST to the endpoint.',
  required: ['run', 'slot', 'attempt', 'at', 'durationMs', 'outcome', 'status'],
  properties: {
    run: count('The run of the schedule. Sending the delivery again starts the next run.', 1, 1),
    slot: count('The position in the schedule: 0 is the first attempt, k follows the k-th wait.', 0),
    attempt: count('The number of the attempt, over all runs; sent as `X-SVC-Attempt`.', 1, 1),
    at: moment('When the POST began, in UTC.', '2026-11-20T17:06:01.189Z'),
    durationMs: { type: 'number', minimum: 0, description: 'The duration in milliseconds.', examples: [42] },
    outcome: choice(
      OUTCOMES,
      `\`delivered\`: answered with a 2xx. \`answered\`: answered with any other status. ${UNREACHABLE_TEXT}`,
      'answered',
    ),
    status: orNull(integer('The HTTP status; null if there was no answer.', 404)),
    answer: text(
      'The beginning of the body of an answer other than 2xx, as one line of at most 256 bytes. Likely secrets and mail or SIP addresses (`…@…`) are ' +
        'removed; phone numbers and IP addresses are not. Absent if there was no body, it was not text, or it did not arrive in time.',
      '{"error":"no such path"}',
    ),
    detail: text(
      'More about the attempt, at most 256 characters: the addresses that were tried and how each failed, the TLS alert of the endpoint, where a redirect leads, ' +
        'or that the request was repeated on a new connection. For people; the wording may change. Absent if there is nothing to add.',
      'the request was repeated on a new connection',
    ),
  },
})

export const envelopeSchema = completeComponent('DeliveryEnvelope', 'The body of a delivery.', {
  deliveryId: deliveryIdSchema,
  eventType: text('The event type, sent as `X-SVC-Event`.', 'call.status'),
  occurredAt: moment('When the event occurred, in UTC. Unchanged on a retry.'),
  tenant: orNull(text('The tenant of the event.', 'acme')),
  data: { type: 'object', description: 'The data of the event. Its schema depends on the event type.' },
})

const deliverySummarySchema = completeComponent('DeliverySummary', 'The delivery of one event to one subscription.', {
  deliveryId: deliveryIdSchema,
  subscriptionId: subscriptionIdSchema,
  eventId: eventIdSchema,
  eventType: { type: 'string', enum: EVENT_TYPES, description: 'The event type, sent as `X-SVC-Event`.' },
  url: orNull(
    text(
      'The endpoint. null for a pull subscription, or if the subscription was deleted before the first attempt was finished.',
      'https://client.example/hooks/calls',
    ),
  ),
  state: choice(
    DELIVERY_STATES,
    '`pending`: the first attempt of this run is due or in progress. `waiting`: the next attempt is scheduled, because an attempt failed or could not be ' +
      'made, for example in a cool-down (`attempts` can be empty then). `acknowledged`: answered with a 2xx. `parked`: no longer retried, but kept. ' +
      '`withdrawn`: never sent, because the subscription was deleted, disabled or unsubscribed from the event type before the first attempt. ' +
      '`expired`: not sent any more, because the event was older than `expireAfterSeconds` of the subscription.',
    'parked',
  ),
  parkedReason: parkedReasonSchema,
  parkedAt: momentOrNull('When the delivery was parked, in UTC.', '2026-11-20T17:06:01.231Z'),
  nextAttemptAt: momentOrNull('Approximate time of the next attempt, in UTC; null if none is scheduled.', null),
  run: count('The run of the schedule: 1 at first, one more each time the delivery is sent again.', 1, 1),
  test: flag('Whether this is a test delivery (`POST …/test`) and not an event.', false),
  firstDueAt: moment('When the first attempt of this run was due, in UTC.'),
  attempts: {
    type: 'array',
    description:
      'The attempts, the oldest first. Of those that lapsed, only the latest five are listed: `attempt` of the latest counts all.',
    items: attemptSchema,
  },
})

export const deliverySchema = completeComponent(
  'Delivery',
  'The delivery of one event to one subscription, with its envelope.',
  {
    ...deliverySummarySchema.properties,
    envelope: {
      description:
        'The body of the delivery. It is stored when the delivery is first parked, and kept while it is sent again. null if the delivery was ' +
        'never parked, or if `envelopeDropped` is true.',
      oneOf: [envelopeSchema, { type: 'null' }],
    },
    envelopeDropped: flag(
      'true if the delivery is parked but its envelope is no longer kept, because the subscription has more parked deliveries than its `parked.limit`. ' +
        'Such a delivery cannot be sent again (409 `delivery-without-body`).',
      false,
    ),
  },
)

export const deliveryPageSchema = pageSchema('DeliveryPage', 'A page of deliveries.', deliverySummarySchema)

/** A newer worker may store further fields. Absent ones are undefined, and so left out of the answer. */
export const attemptView = (attempt: Attempt): Attempt => described(attemptSchema, attempt as Required<Attempt>)

export const summaryOf = (record: ListedDelivery) =>
  described(deliverySummarySchema, {
    ...record,
    // null: of a pull subscription, or unknown because the subscription was deleted before the first attempt was finished.
    url: record.url || null,
    test: record.trial !== undefined,
    attempts: record.attempts.map(attemptView),
  })

/** One delivery in full, with its envelope. The envelope is stored when the delivery is first parked, and null before. */
export function viewOf(record: DeliveryRecord) {
  const envelope = record.body === null ? null : (parseExactly(record.body.toString()) as Envelope)
  const envelopeDropped = envelope === null && record.state === 'parked'
  return { ...summaryOf(record), envelope, envelopeDropped }
}
