import { PARKED_REASONS } from '@switchhook/contracts'
import { component } from '../http/component.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'
import { attemptSchema, deliveryIdSchema, moment, momentOrNull } from './delivery-schema.ts'
import { VERDICTS } from './explain.ts'

export const eventIdSchema = {
  ...deliveryIdSchema,
  description: 'The id of the event; the deliveries of one event share it.',
  examples: ['0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'],
} as const

const explanationSchema = component('Explanation', {
  type: 'object',
  description: 'What became of an event at one subscription, and why.',
  required: [
    'subscriptionId',
    'url',
    'verdict',
    'explanation',
    'deliveryId',
    'attemptCount',
    'lastAttempt',
    'deliveredAt',
    'nextAttemptAt',
    'coolingUntil',
    'parkedAt',
    'parkedReason',
  ],
  properties: {
    subscriptionId: subscriptionIdSchema,
    url: {
      type: ['string', 'null'],
      description: 'Where it goes or would go; null when the subscription was deleted and nothing was sent.',
      examples: ['https://client.example/hooks/calls'],
    },
    verdict: {
      type: 'string',
      enum: VERDICTS,
      description:
        '`delivered`: answered with a 2xx. `pending`: due now. `waiting`: the next attempt is scheduled, as one failed, or as the ' +
        'delivery fell due when nothing could be sent, such as in a cool-down (`attemptCount` may then be 0). `cooling-down`: due, or ' +
        'waiting, and the endpoint is not contacted for a while, as it keeps failing. `parked`: given up and ' +
        'kept. `withdrawn`: never sent: when its first attempt was due, the subscription was deleted, disabled or no longer asked for the type. ' +
        '`deleted`: the subscription has been deleted, and the turn of its first attempt is not over yet; `withdrawn` follows, unless that ' +
        'attempt was under way already. `not-subscribed`: the subscription does not ask for this type. `disabled`: it is, and got nothing of this event, ' +
        'or gets nothing unless the first attempt was under way already. `created-later`: it came after the event. `changed-later`: it was ' +
        'disabled or asked for other types when the event was taken up. `unknown`: too long ago to tell.',
      examples: ['waiting'],
    },
    explanation: {
      type: 'string',
      description: 'The same in a sentence for people; its wording may change.',
      examples: [
        'Attempt 1, made at 2026-11-20T17:06:01.173Z, was answered with 503. The next attempt is due at about 2026-11-20T17:06:11.180Z.',
      ],
    },
    deliveryId: {
      type: ['string', 'null'],
      format: 'uuid',
      description: 'The delivery, to be read under `/deliveries/{deliveryId}`; null: the event did not become one.',
      examples: deliveryIdSchema.examples,
    },
    attemptCount: { type: 'integer', minimum: 0, description: 'POSTs made so far, over all runs.', examples: [1] },
    lastAttempt: { description: 'The latest POST; null: none was made.', oneOf: [attemptSchema, { type: 'null' }] },
    deliveredAt: momentOrNull('When the endpoint acknowledged it, in UTC.'),
    nextAttemptAt: momentOrNull(
      'About when the next attempt is due, in UTC; null when none is scheduled. A cool-down that lasts then puts it off again.',
    ),
    coolingUntil: momentOrNull('With `cooling-down`: until when the endpoint is not contacted, in UTC.'),
    parkedAt: momentOrNull('When it was parked, in UTC.'),
    parkedReason: {
      type: ['string', 'null'],
      enum: [...PARKED_REASONS, null],
      description:
        '`exhausted`: the last scheduled attempt failed, or the endpoint was still in its cool-down long after it was due. `rejected`: the endpoint refused it for good.',
      examples: [null],
    },
  },
})

export const explainedEventSchema = component('ExplainedEvent', {
  type: 'object',
  description: 'What became of one event.',
  required: ['eventId', 'eventType', 'occurredAt', 'fannedOutAt', 'subscriptions'],
  properties: {
    eventId: eventIdSchema,
    eventType: { type: 'string', description: 'The value of `X-SVC-Event`.', examples: ['call.status'] },
    occurredAt: momentOrNull('When it occurred, in UTC; null when only its deliveries are still remembered.'),
    fannedOutAt: moment('When it was taken up for its subscriptions, in UTC.'),
    subscriptions: {
      type: 'array',
      description:
        'One for each subscription that there is, and for each that there was when the event was taken up; of a test, the one that it was asked for.',
      items: explanationSchema,
    },
  },
})
