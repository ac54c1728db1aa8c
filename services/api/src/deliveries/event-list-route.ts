import { canonicalCallId, EVENT_TYPES, type EventType, MAX_SUBJECT_LENGTH } from '@switchhook/contracts'
import type { EventList } from '@switchhook/store'
import { component } from '../http/component.ts'
import { pageParameters, pageSchema } from '../http/page-schema.ts'
import { type Range, rangeOf } from '../http/read-range.ts'
import type { Route } from '../http/route.ts'
import { deliveryQuery } from './delivery-query.ts'
import { moment } from './delivery-schema.ts'
import { eventIdSchema } from './explain-schema.ts'

export interface EventListRouteDeps {
  readonly events: EventList
}

interface EventListQuery extends Range {
  readonly eventType?: EventType
  readonly callId?: string
  readonly agentUri?: string
  readonly correlationId?: string
}

const name = (description: string, example: string) => ({
  type: 'string',
  minLength: 1,
  maxLength: MAX_SUBJECT_LENGTH,
  description,
  examples: [example],
})

const CALL_ID = '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'
const AGENT_URI = 'sip:alice@acme.example'
const CORRELATION_ID = 'crm-4711'

const query = {
  callId: name('Of this call only.', CALL_ID),
  agentUri: name('Of this agent only; a plus sign and the like are percent-encoded.', AGENT_URI),
  correlationId: name('Of what was begun with this `correlationId` only.', CORRELATION_ID),
  eventType: deliveryQuery.eventType,
  from: { ...deliveryQuery.from, description: 'Not those with a `listedAt` before this time.' },
  to: { ...deliveryQuery.to, description: 'Only those with a `listedAt` before this time.' },
  ...pageParameters,
}

const nameOrNull = (description: string, example: string) => ({
  type: ['string', 'null'],
  description: `${description}; null: its data names none.`,
  examples: [example],
})

const listedEventSchema = component('ListedEvent', {
  type: 'object',
  description: 'An event, and what it is about.',
  required: ['eventId', 'eventType', 'occurredAt', 'listedAt', 'callId', 'agentUri', 'correlationId'],
  properties: {
    eventId: eventIdSchema,
    eventType: { type: 'string', enum: EVENT_TYPES, description: 'The value of `X-SVC-Event`.' },
    occurredAt: moment('When it occurred, in UTC.'),
    listedAt: moment('When it was listed, in UTC: some 50 ms after it was taken up for its subscriptions.'),
    callId: nameOrNull('The call', CALL_ID),
    agentUri: nameOrNull('The agent', AGENT_URI),
    correlationId: nameOrNull('What the client named it by', CORRELATION_ID),
  },
})

const eventPageSchema = pageSchema('EventPage', 'A page of events.', listedEventSchema)

export function createEventListRoute({ events }: EventListRouteDeps): Route<undefined, EventListQuery> {
  return {
    method: 'get',
    path: '/api/v1/webhooks/events',
    operationId: 'listEvents',
    tag: 'deliveries',
    summary: 'List events, such as those of a call, with or without subscribers',
    description:
      'Finds the `eventId` for `GET /webhooks/events/{eventId}`, which explains the deliveries of an event. The order is by `listedAt`, the newest first. Two events of one ' +
      'call within 50 ms can be listed in another order than they occurred in. New events ' +
      'do not move others to another page. The list holds the latest 20,000 events of the tenant, for 1 hour (both are defaults). ' +
      'One request searches five thousand entries, so a page can have fewer items than `limit`, or none, and still have a `nextCursor`.',
    query,
    responses: { 200: { description: 'A page.', body: eventPageSchema } },
    failures: [],
    async handle({ caller, query: { eventType, callId, agentUri, correlationId, ...range } }) {
      const page = await events.page(caller.tenant, {
        ...rangeOf(range),
        ...(eventType !== undefined && { eventType }),
        ...(callId !== undefined && { callId: canonicalCallId(callId) }),
        ...(agentUri !== undefined && { agentUri }),
        ...(correlationId !== undefined && { correlationId }),
      })
      return { status: 200, body: page }
    },
  }
}
