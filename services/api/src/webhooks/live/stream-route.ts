import { AppError, EVENT_TYPES } from '@switchhook/contracts'
import { BEGINNING, createLiveAttemptStore, isJournalId } from '@switchhook/store'
import type { Base } from '../../base.ts'
import { feature } from '../../http/feature.ts'
import { limitedClientOf, type RouteOf, reads } from '../../http/route.ts'
import { choice, completeComponent, count, list, moment, type QueryOf, text } from '../../http/schema.ts'
import { type SubjectDeps, subjectAsked } from '../deliveries/delivery-query.ts'
import { attemptSchema, deliverySchema, eventIdSchema } from '../deliveries/delivery-schema.ts'
import { subjectParameters } from '../deliveries/event-list-route.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'
import { createLiveHub, type LiveHub } from './live-hub.ts'

const query = {
  eventType: choice(EVENT_TYPES, 'Only events of this type, and their attempts.', 'call.status'),
  ...subjectParameters('events', ', and their attempts'),
  subscriptionId: {
    ...subscriptionIdSchema,
    description: 'Only events that went to this subscription, and their attempts there.',
  },
  since: moment(
    'Begin with the events that the journal has from this time on, by the time at which they were journaled. A `Last-Event-ID` comes first.',
  ),
}

const EXAMPLE = `id: 1795192262007-12
event: place
data: {"place":"1795192262007-12"}

id: 1795192262123-417
event: event
data: {"eventId":"0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11","eventType":"call.status","occurredAt":"2026-11-20T17:06:01.101Z","data":{"callId":"…"},"subscriptions":["4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11"],"subscriptionCount":1}

event: attempt
data: {"deliveryId":"6f9c2f0e-54c6-5a0e-9b57-6d1f0c6f5a0b","subscriptionId":"4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11","eventId":"0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11","eventType":"call.status","attempt":1,"at":"2026-11-20T17:06:01.173Z","outcome":"answered","status":503,"durationMs":42,"state":"waiting"}

`

const place = text('A place in the stream.', '1795192262123-417')

const about = { eventId: eventIdSchema, eventType: choice(EVENT_TYPES, 'The event type.', 'call.status') }

const { attempt, at, outcome, status, durationMs } = attemptSchema.properties
const { deliveryId, subscriptionId, state } = deliverySchema.properties

/** The data of each message of the live stream, by the name of the message. */
const streamMessages = {
  event: completeComponent('StreamEvent', 'An event of the live stream.', {
    ...about,
    occurredAt: moment('When the event occurred, in UTC.'),
    data: {
      type: ['object', 'null'],
      description: 'The data of the event, as its deliveries have it; null if it is larger than 16 KiB.',
    },
    subscriptions: list('The subscriptions that the event went to, at most 100.', subscriptionIdSchema),
    subscriptionCount: count('The number of these subscriptions.', 1),
  }),
  attempt: completeComponent(
    'StreamAttempt',
    'An attempt in the live stream, and the state of its delivery after it.',
    { deliveryId, subscriptionId, ...about, attempt, at, outcome, status, durationMs, state },
  ),
  gap: completeComponent('StreamGap', 'Something is missing in the live stream: read lists and states again.', {
    after: { ...place, description: 'Events or attempts after this place may be missing.' },
    resumedAt: { ...place, description: 'The stream continues at this place.' },
  }),
  place: completeComponent('StreamPlace', 'The place that the live stream has reached.', { place }),
}

const streamEvents: RouteOf<
  Pick<Base, 'journal' | 'now'> & SubjectDeps & { readonly hub: LiveHub },
  undefined,
  QueryOf<typeof query>
> = {
  ...reads('deliveries'),
  path: '/api/v1/webhooks/stream',
  operationId: 'streamEvents',
  summary: 'Follow events and attempts as they happen',
  description:
    'A stream of server-sent events: `event` for each event of the tenant with its data and the subscriptions that it went to, `attempt` for each attempt, `gap` if something is missing, `place` at the beginning and after 15 quiet seconds. ' +
    '`id` of `event` and `place` is a place in the stream; send the last one as `Last-Event-ID` to continue after it, as long as the journal has it (24 hours or 20,000 events by default). ' +
    'Attempts have no place and are not repeated. `gap` has the places `after` which and up to which (`resumedAt`) events or attempts may be missing: read lists and states again. ' +
    '`subscriptions` has at most 100 ids; `subscriptionCount` counts all. `data` is null if it is larger than 16 KiB. ' +
    'The stream ends when the token expires, and the connection of a client that reads nothing for 30 seconds is closed: connect again. ' +
    'Ignore events with an unknown name.',
  query,
  isStream: true,
  responses: { 200: { description: 'The stream.', events: { example: EXAMPLE, messages: streamMessages } } },
  failures: ['journal-off', 'too-many-listeners', 'too-many-client-listeners'],
  async handle({ caller, query: { since, ...wanted }, lastEventId }, deps) {
    const { hub, journal, now } = deps
    if (lastEventId !== undefined && !isJournalId(lastEventId)) {
      throw new AppError('invalid-request', {
        detail:
          'The header Last-Event-ID is not an id of this stream. Send the last id that you received, or leave it out.',
        errors: [{ pointer: '/Last-Event-ID', detail: 'is not an id of this stream' }],
      })
    }
    if (!journal.isOn) throw new AppError('journal-off')
    const resumeAfter =
      lastEventId ?? (since === undefined ? undefined : await journal.before(caller.tenant, Date.parse(since)))
    const isCut = lastEventId === undefined && resumeAfter === BEGINNING && !(await journal.hasAll(caller.tenant))
    const subject = await subjectAsked(deps, caller.tenant, wanted)
    const seat = await hub.take(caller.tenant, limitedClientOf(caller))
    const filter = { ...wanted, ...subject }
    const closeInMs = caller.expiresAtMs === undefined ? undefined : caller.expiresAtMs - now()
    return { status: 200, stream: (output) => seat.start(output, { filter, resumeAfter, isCut, closeInMs }) }
  },
}

export const live = feature([streamEvents], (base: Base & SubjectDeps) => {
  const hub = createLiveHub({ ...base, attempts: createLiveAttemptStore(base.redis) })
  base.metrics.gauge('switchhook_live_streams', 'Live streams that are open.', () => hub.count())
  return { deps: { ...base, hub }, endRequests: () => hub.close() }
})
