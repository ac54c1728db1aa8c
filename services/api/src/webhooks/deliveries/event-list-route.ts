import { AppError, EVENT_TYPES, MAX_SUBJECT_LENGTH, numberEnding } from '@switchhook/contracts'
import { rangeOf } from '../../http/read-range.ts'
import { type RouteOf, searches } from '../../http/route.ts'
import { completeComponent, moment, orNull, pageParameters, pageSchema, type QueryOf, text } from '../../http/schema.ts'
import type { WebhookParts } from '../stores.ts'
import { deliveryQuery, type SubjectDeps, subjectAsked } from './delivery-query.ts'
import { eventIdSchema } from './delivery-schema.ts'

const name = (description: string, example: string) =>
  text(description, example, { minLength: 1, maxLength: MAX_SUBJECT_LENGTH })

const CALL_ID = '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'
const AGENT_URI = 'sip:alice@acme.example'
const CORRELATION_ID = 'crm-4711'

/**
 * The parameters that select by the call and the agent of an event.
 * @param what is selected, in the plural, such as `events`
 * @param more the end of the description's first sentence
 */
export const subjectParameters = (what: string, more = '') => ({
  callId: name(`Only ${what} of this call${more}.`, CALL_ID),
  agentUri: name(
    `Only ${what} of this agent${more}. Any spelling of the address of a provisioned agent finds the events with the address as it is provisioned now, ` +
      'but not those with an earlier spelling. Other addresses are compared exactly. Percent-encode special characters such as `+`.',
    AGENT_URI,
  ),
})

const query = {
  ...subjectParameters('events'),
  correlationId: name('Only events with this `correlationId`.', CORRELATION_ID),
  number: text(
    'Only events of calls with this phone number of the other party. Separators, a leading `+` and leading zeros are ignored, and the beginning can be ' +
      'left out: `5559000` finds `+15559000`. At least one digit must not be 0. Percent-encode `+`.',
    '+15559000',
    // At least four digits: fewer would match almost everything.
    { pattern: '^[+(]?(\\D*\\d){4}[\\d ().\\/-]*$', maxLength: 64 },
  ),
  eventType: deliveryQuery.eventType,
  from: { ...deliveryQuery.from, description: 'Only events with a `listedAt` at this time or later.' },
  to: { ...deliveryQuery.to, description: 'Only events with a `listedAt` before this time.' },
  ...pageParameters,
}

const ONLY_ZEROS = { errors: [{ pointer: '/number', detail: 'must have a digit other than 0' }] }

const nameOrNull = (description: string, example: string) =>
  orNull(text(`${description}; null if the event has none.`, example))

const listedEventSchema = completeComponent('ListedEvent', 'An event, with the ids in its data.', {
  eventId: eventIdSchema,
  eventType: { type: 'string', enum: EVENT_TYPES, description: 'The event type, sent as `X-SVC-Event`.' },
  occurredAt: moment('When the event occurred, in UTC.'),
  listedAt: moment('When the event was listed, in UTC: about 50 ms after it was fanned out.'),
  callId: nameOrNull('The id of the call', CALL_ID),
  agentUri: nameOrNull('The URI of the agent', AGENT_URI),
  correlationId: nameOrNull('The `correlationId` that the client sent with the command', CORRELATION_ID),
  number: nameOrNull('The phone number of the other party', '+15559000'),
})

const eventPageSchema = pageSchema('EventPage', 'A page of events.', listedEventSchema)

export const listEvents: RouteOf<Pick<WebhookParts, 'events'> & SubjectDeps, undefined, QueryOf<typeof query>> = {
  ...searches('deliveries'),
  path: '/api/v1/webhooks/events',
  operationId: 'listEvents',
  summary: 'List events',
  description:
    'Lists the events of the tenant, whether or not a subscription received them, by `listedAt`, the newest first. Use it to find the `eventId` for ' +
    '`GET /webhooks/events/{eventId}`. Events of one call within 50 ms can be listed out of order. The list holds the latest 20,000 events for 24 hours ' +
    '(both are defaults). New events do not shift the pages. ' +
    'A page ends after a search of five thousand entries, so it can have fewer items than `limit` and still have a `nextCursor`.',
  query,
  responses: { 200: { description: 'A page of events.', body: eventPageSchema } },
  async handle({ caller, query }, deps) {
    // A pattern for this would need a lookahead, which generated clients in Go and Rust cannot compile.
    if (query.number !== undefined && numberEnding(query.number) === '')
      throw new AppError('invalid-request', ONLY_ZEROS)
    const subject = await subjectAsked(deps, caller.tenant, query)
    return { status: 200, body: await deps.events.page(caller.tenant, { ...rangeOf(query), ...subject }) }
  },
}
