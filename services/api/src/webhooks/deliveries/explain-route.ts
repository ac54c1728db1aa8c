import { AppError, isGuid, parseEventId } from '@switchhook/contracts'
import type { PageQuery } from '@switchhook/store'
import type { RouteOf } from '../../http/route.ts'
import { pageParameters } from '../../http/schema.ts'
import { eventIdSchema } from './delivery-schema.ts'
import { createExplainEvent, type ExplainEventDeps } from './explain-event.ts'
import { explainedEventSchema } from './explain-schema.ts'

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
  method: 'get',
  path: '/api/v1/webhooks/events/{eventId}',
  operationId: 'explainEvent',
  tag: 'deliveries',
  role: 'viewer',
  isExpensive: true,
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
    const explain = createExplainEvent(deps)
    const explained = isGuid(eventId) ? await explain(caller.tenant, parseEventId(eventId), page) : undefined
    if (explained === undefined) throw new AppError('event-not-found', { detail: UNKNOWN })
    return { status: 200, body: explained }
  },
}
