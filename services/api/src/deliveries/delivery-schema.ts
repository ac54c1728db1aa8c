import { type Attempt, type Envelope, EVENT_TYPES, PARKED_REASONS, UNREACHABLE_REASONS } from '@switchhook/contracts'
import type { DeliveryRecord, DeliveryState, ListedDelivery, PendingDelivery } from '@switchhook/store'
import { component } from '../http/component.ts'
import { pageSchema } from '../http/page-schema.ts'
import type { Schema } from '../http/route.ts'
import { UNREACHABLE_TEXT } from '../subscriptions/endpoint-health-schema.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'

/** A delivery as clients see it in a list. */
export interface DeliverySummary {
  readonly deliveryId: string
  readonly subscriptionId: string
  readonly eventId: string
  readonly eventType: string
  readonly url: string
  readonly state: DeliveryState
  readonly parkedReason: DeliveryRecord['parkedReason']
  readonly parkedAt: string | null
  readonly nextAttemptAt: string | null
  readonly run: number
  readonly test: boolean
  readonly firstDueAt: string
  readonly attempts: readonly Attempt[]
}

/** One delivery in full: with the envelope, which is stored when the delivery is first parked; null before. */
export interface DeliveryView extends Omit<DeliverySummary, 'url'> {
  /** null: the first attempt is not over, and the subscription was deleted. */
  readonly url: string | null
  readonly envelope: Envelope | null
  readonly envelopeDropped: boolean
}

export function summaryOf(record: ListedDelivery): DeliverySummary {
  const { deliveryId, subscriptionId, eventId, eventType, url, state, parkedReason, parkedAt, nextAttemptAt, run } =
    record
  return {
    deliveryId,
    subscriptionId,
    eventId,
    eventType,
    url,
    state,
    parkedReason,
    parkedAt,
    nextAttemptAt,
    run,
    test: record.trial !== undefined,
    firstDueAt: record.firstDueAt,
    attempts: record.attempts.map(attemptView),
  }
}

export function attemptView({ run, slot, attempt, at, durationMs, outcome, status, answer }: Attempt): Attempt {
  return { run, slot, attempt, at, durationMs, outcome, status, ...(answer !== undefined && { answer }) }
}

export function viewOf(record: DeliveryRecord): DeliveryView {
  const envelope = record.body === null ? null : (JSON.parse(record.body.toString()) as Envelope)
  const envelopeDropped = envelope === null && record.state === 'parked'
  return { ...summaryOf(record), envelope, envelopeDropped }
}

export const pendingViewOf = (
  { deliveryId, subscriptionId, eventId, eventType, firstDueAt }: PendingDelivery,
  url: string | null,
): DeliveryView => ({
  deliveryId,
  subscriptionId,
  eventId,
  eventType,
  url,
  state: 'pending',
  parkedReason: null,
  parkedAt: null,
  nextAttemptAt: null,
  run: 1,
  // A test has a record from the beginning.
  test: false,
  firstDueAt,
  attempts: [],
  envelope: null,
  envelopeDropped: false,
})

export const DELIVERY_STATES = [
  'pending',
  'waiting',
  'acknowledged',
  'parked',
  'withdrawn',
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
  description: 'The id of the delivery, the same on every attempt: the value of `X-SVC-Delivery`.',
  examples: ['6f9c2f0e-54c6-5a0e-9b57-6d1f0c6f5a0b'],
} as const

export const attemptSchema = component('Attempt', {
  type: 'object',
  description: 'One POST to the endpoint.',
  required: ['run', 'slot', 'attempt', 'at', 'durationMs', 'outcome', 'status'],
  properties: {
    run: { type: 'integer', minimum: 1, description: 'The run of the schedule in which it was made.', examples: [1] },
    slot: {
      type: 'integer',
      minimum: 0,
      description: 'Its place in the schedule: 0 is at once, k comes after the kth wait.',
      examples: [0],
    },
    attempt: {
      type: 'integer',
      minimum: 1,
      description: 'Counts over all runs: the value of `X-SVC-Attempt`.',
      examples: [1],
    },
    at: moment('When the POST began, in UTC.'),
    durationMs: { type: 'number', minimum: 0, description: 'How long it took, in milliseconds.', examples: [42] },
    outcome: {
      type: 'string',
      enum: ['delivered', 'answered', ...UNREACHABLE_REASONS],
      description: `\`delivered\`: a 2xx. \`answered\`: any other status. ${UNREACHABLE_TEXT}`,
      examples: ['answered'],
    },
    status: { type: ['integer', 'null'], description: 'The HTTP status; null without an answer.', examples: [503] },
    answer: {
      type: 'string',
      description:
        'How the body of an answer that was no 2xx began, as one line of text: at most 256 bytes, with whatever looks like a ' +
        'secret, or like a mail or SIP address (`…@…`), taken out; phone numbers and IP addresses stay. Absent: there was none, it was not text, or it did not come in time.',
      examples: ['{"error":"maintenance until 18:00"}'],
    },
  },
})

export const envelopeSchema = component('DeliveryEnvelope', {
  type: 'object',
  description: 'The body of the delivery.',
  required: ['deliveryId', 'eventType', 'occurredAt', 'tenant', 'data'],
  properties: {
    deliveryId: deliveryIdSchema,
    eventType: { type: 'string', description: 'The value of `X-SVC-Event`.', examples: ['call.status'] },
    occurredAt: moment('When the event occurred, in UTC; unchanged on a retry.'),
    tenant: { type: ['string', 'null'], description: 'The tenant that the event belongs to.', examples: ['acme'] },
    data: { type: 'object', description: 'What happened, by event type.' },
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
    eventId: { ...deliveryIdSchema, description: 'The id of the event; deliveries to other subscriptions share it.' },
    eventType: { type: 'string', enum: EVENT_TYPES, description: 'The value of `X-SVC-Event`.' },
    url: { type: 'string', description: 'Where it goes.', examples: ['https://client.example/hooks/calls'] },
    state: {
      type: 'string',
      enum: DELIVERY_STATES,
      description:
        '`pending`: the first attempt of this run is due or under way. `waiting`: the next attempt is scheduled, because one failed or because nothing was ' +
        'sent when the delivery was due, such as in a cool-down (then `attempts` can be empty). `acknowledged`: answered with a 2xx. `parked`: not retried any more, and ' +
        'kept. `withdrawn`: never sent, because its subscription was deleted, disabled or no longer asked for the event type when the first attempt was due.',
      examples: ['parked'],
    },
    parkedReason: {
      type: ['string', 'null'],
      enum: [...PARKED_REASONS, null],
      description:
        '`exhausted`: the last scheduled attempt failed, or the endpoint was still in its cool-down long after it was due. `rejected`: the endpoint answered with a status that is not retried.',
      examples: ['exhausted'],
    },
    parkedAt: momentOrNull('When it was parked, in UTC.'),
    nextAttemptAt: momentOrNull('About when the next attempt is due, in UTC; null when none is scheduled.'),
    run: {
      type: 'integer',
      minimum: 1,
      description: '1 for the first schedule; each sending again starts the next run.',
      examples: [1],
    },
    test: {
      type: 'boolean',
      description: 'An example that somebody asked for (`POST …/test`): nothing has happened.',
      examples: [false],
    },
    firstDueAt: moment('When the first attempt of this run fell due, in UTC.'),
    attempts: { type: 'array', description: 'Every POST that was made, the oldest first.', items: attemptSchema },
  },
} as const

const deliverySummarySchema = component('DeliverySummary', {
  ...summary,
  description: 'One event on its way to one subscription.',
})

export const deliverySchema = component('Delivery', {
  ...summary,
  description: 'One event on its way to one subscription, with what is sent.',
  required: [...summary.required, 'envelope', 'envelopeDropped'],
  properties: {
    ...summary.properties,
    url: {
      ...summary.properties.url,
      type: ['string', 'null'],
      description: `${summary.properties.url.description} null: the first attempt is not over, and the subscription was deleted.`,
    },
    envelope: {
      description:
        'The body of the delivery. It is stored when the delivery is first parked, and kept while the delivery is sent again. null: the delivery was ' +
        'never parked, so its body is not stored; or see `envelopeDropped`.',
      oneOf: [envelopeSchema, { type: 'null' }],
    },
    envelopeDropped: {
      type: 'boolean',
      description:
        'true: the delivery is parked, but its envelope is no longer kept, because more deliveries are parked than `parked.limit` of the subscription ' +
        'allows. It cannot be sent again (409 `delivery-without-body`).',
      examples: [false],
    },
  },
})

export const deliveryPageSchema = pageSchema('DeliveryPage', 'A page of deliveries.', deliverySummarySchema)
