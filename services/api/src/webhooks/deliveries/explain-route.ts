import { AppError, isGuid, parseEventId } from '@switchhook/contracts'
import type { PageQuery } from '@switchhook/store'
import { type RouteOf, searches } from '../../http/route.ts'
import {
  choice,
  completeComponent,
  count,
  list,
  moment,
  momentOrNull,
  nextCursorSchema,
  orNull,
  pageParameters,
  text,
} from '../../http/schema.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'
import { attemptSchema, deliveryIdSchema, eventIdSchema, parkedReasonSchema } from './delivery-schema.ts'
import { VERDICTS } from './explain.ts'
import { type ExplainEventDeps, explainDeliveries } from './explain-deliveries.ts'

const explanationSchema = completeComponent(
  'Explanation',
  'Whether one subscription received the event, and why or why not.',
  {
    subscriptionId: subscriptionIdSchema,
    url: orNull(
      text(
        'The endpoint; null for a pull subscription, or if the subscription was deleted and nothing was sent.',
        'https://client.example/hooks/calls',
      ),
    ),
    verdict: choice(
      VERDICTS,
      '`delivered`: answered with a 2xx. `pending`: an attempt is due now. `waiting`: the next attempt is scheduled, because an attempt failed or ' +
        'could not be made, for example in a cool-down (`attemptCount` can be 0 then). `cooling-down`: an attempt is due or scheduled, but the endpoint is in a ' +
        'cool-down. `parked`: no longer retried, but kept. `withdrawn`: never sent, because the subscription was deleted, disabled, unsubscribed from the ' +
        'event type, or got a filter that refuses the event, before the first attempt. `expired`: not sent any more, because the event was older than `expireAfterSeconds` of the subscription. `deleted`: the subscription was deleted before the first attempt was finished; `withdrawn` follows, unless ' +
        'that attempt had already begun. `not-subscribed`: the subscription does not receive this event type. `filtered`: its filter refuses the event; ' +
        '`explanation` names the field and its value. `disabled`: the subscription is disabled and ' +
        'did not receive the event, unless a first attempt had already begun. `created-later`: the subscription was created after the event was fanned out. `changed-later`: it was ' +
        'disabled, did not receive this event type, or had a filter that refused the event, when it was fanned out. `unknown`: the records have expired.',
      'parked',
    ),
    explanation: text(
      'The verdict in a sentence. For people; the wording may change.',
      'Parked at 2026-11-20T17:06:01.231Z: attempt 1 at 2026-11-20T17:06:01.189Z was answered with 404 (the request was repeated on a new connection), which is not retried. You can send it again.',
    ),
    deliveryId: orNull({
      ...deliveryIdSchema,
      description: 'The id of the delivery (see `GET /webhooks/deliveries/{deliveryId}`); null if there is none.',
    }),
    attemptCount: count('The number of attempts so far, over all runs.', 1),
    lastAttempt: {
      description: 'The latest attempt; null if there is none.',
      oneOf: [attemptSchema, { type: 'null' }],
    },
    deliveredAt: momentOrNull('When the endpoint acknowledged the delivery, in UTC.', null),
    nextAttemptAt: momentOrNull(
      'Approximate time of the next attempt, in UTC; null if none is scheduled. A cool-down at that time postpones it again.',
      null,
    ),
    coolingUntil: momentOrNull('When the cool-down ends, in UTC; null unless the verdict is `cooling-down`.', null),
    parkedAt: momentOrNull('When the delivery was parked, in UTC.', '2026-11-20T17:06:01.231Z'),
    parkedReason: parkedReasonSchema,
  },
)

const explainedEventSchema = completeComponent('ExplainedEvent', 'An event, with one explanation per subscription.', {
  eventId: eventIdSchema,
  eventType: text('The event type, sent as `X-SVC-Event`.', 'call.status'),
  occurredAt: momentOrNull('When the event occurred, in UTC; null if only its deliveries are still stored.'),
  fannedOutAt: moment('When the event was fanned out to its subscriptions, in UTC.'),
  data: {
    type: ['object', 'null'],
    description:
      'The data of the event, as deliveries have it; null if the journal does not have it (any more), and for a test.',
    examples: [null],
  },
  subscriptions: list(
    'One explanation for each current subscription and each subscription that the event was fanned out to. For a test, only its own subscription.',
    explanationSchema,
  ),
  nextCursor: nextCursorSchema,
})

const UNKNOWN =
  'There is no record of this event: it does not exist, is not fanned out yet, is older than the retention time, or belongs ' +
  'to another tenant'

/** An explanation reads six records or so. Most tenants have all of theirs in one answer. */
const MAX_EXPLANATIONS = 1_000

const query = {
  ...pageParameters,
  limit: {
    ...pageParameters.limit,
    maximum: MAX_EXPLANATIONS,
    default: MAX_EXPLANATIONS,
    description: 'The maximum number of explanations per answer.',
    examples: [MAX_EXPLANATIONS],
  },
} as const

export const explainEvent: RouteOf<ExplainEventDeps, undefined, PageQuery> = {
  ...searches('deliveries'),
  path: '/api/v1/webhooks/events/{eventId}',
  operationId: 'explainEvent',
  summary: 'Explain the deliveries of an event',
  description:
    'Explains for each subscription whether the event was delivered, and why not: a verdict, a sentence and the relevant times. An event can be explained ' +
    'while the journal has it (24 hours or the latest 20,000 events by default), and after that while one of its deliveries to an existing subscription is waiting or parked. ' +
    'After 1 hour (by default) the records of acknowledged deliveries have expired, and their verdict is `unknown`. For a test ' +
    '(`POST …/test`), only its own subscription is listed. The subscriptions that the event went to come first, then the others, ' +
    'the oldest first; `nextCursor` leads to the rest.',
  params: { eventId: eventIdSchema },
  query,
  responses: {
    200: { description: 'The event, with one explanation per subscription.', body: explainedEventSchema },
  },
  failures: ['event-not-found'],
  async handle({ caller, params: { eventId }, query: page }, deps) {
    const explained = isGuid(eventId)
      ? await explainDeliveries(deps, caller.tenant, parseEventId(eventId), page)
      : undefined
    if (explained === undefined) throw new AppError('event-not-found', { detail: UNKNOWN })
    return { status: 200, body: explained }
  },
}
