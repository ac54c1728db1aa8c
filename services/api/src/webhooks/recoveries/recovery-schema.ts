import { EVENT_TYPES, PARKED_REASONS } from '@switchhook/contracts'
import {
  choice,
  completeComponent,
  component,
  count,
  guid,
  integer,
  moment,
  momentOrNull,
  orNull,
  pageSchema,
  type ValueOf,
} from '../../http/schema.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'
import { WAITING_FOR } from './pace.ts'

const STATES = ['running', 'paused', 'done', 'cancelled'] as const

/** The highest value of RECOVERY_RATE. */
const MAX_PER_SECOND = 1_000

const eventTypes = (description: string) =>
  ({
    type: ['array', 'null'],
    items: { type: 'string', enum: EVENT_TYPES },
    minItems: 1,
    maxItems: EVENT_TYPES.length,
    uniqueItems: true,
    description,
    examples: [null],
  }) as const

const selection = {
  from: momentOrNull(
    'Only deliveries parked at this time or later. Omitted or null: no limit.',
    '2026-11-20T17:00:00.000Z',
  ),
  to: momentOrNull(
    'Only deliveries parked before this time. Omitted or null: until now. Deliveries parked after the recovery began are never sent.',
    null,
  ),
  reason: orNull(
    choice(
      PARKED_REASONS,
      'Only deliveries parked for this reason: `exhausted` after an outage, `rejected` after the receiver rejected deliveries by mistake. Omitted ' +
        'or null: both.',
      'exhausted',
    ),
  ),
  eventTypes: eventTypes('Only deliveries of these event types. Omitted or null: all.'),
  maxPerSecond: orNull(
    integer('The maximum rate in deliveries per second. The limit of the installation always applies as well.', 20, {
      minimum: 1,
      maximum: MAX_PER_SECOND,
    }),
  ),
} as const

export const recoveryRequestSchema = component('RecoveryInput', {
  type: 'object',
  description:
    'The parked deliveries to send again; `{}` for all. Unknown fields are rejected, because a misspelt `from` would send everything.',
  additionalProperties: false,
  properties: selection,
  examples: [{ from: '2026-11-20T17:00:00Z', reason: 'exhausted' }],
})

export type RecoveryRequest = ValueOf<typeof recoveryRequestSchema>

export const backfillRequestSchema = component('BackfillInput', {
  type: 'object',
  description: 'The events to send. Unknown fields are rejected, because a misspelt `to` would send everything.',
  required: ['from'],
  additionalProperties: false,
  properties: {
    from: moment('Only events journaled at this time or later. `listedAt` of an event is at most a moment earlier.'),
    to: momentOrNull('Only events journaled before this time. Omitted or null: until now.'),
    eventTypes: eventTypes('Only events of these types. Omitted or null: the event types of the subscription.'),
    maxPerSecond: selection.maxPerSecond,
  },
  examples: [{ from: '2026-11-20T17:00:00Z', to: '2026-11-20T18:00:00Z' }],
})

export const recoveryCountSchema = component('RecoveryCount', {
  type: 'object',
  description: 'The deliveries that a recovery or backfill would send.',
  required: ['count', 'withoutBody', 'oldest', 'newest'],
  properties: {
    count: count('The number of deliveries that would be sent.', 1280),
    withoutBody: count('The number of deliveries that cannot be sent, because their body is no longer kept.', 0),
    unknown: count(
      'Only of a backfill: the number of events that went to more than 100 subscriptions, so that the journal does not show whether this one got ' +
        'them. They are not sent.',
      0,
    ),
    oldest: momentOrNull('When the oldest of them was parked or journaled, in UTC.'),
    newest: momentOrNull('When the newest of them was parked or journaled, in UTC.', '2026-11-20T19:12:44.020Z'),
  },
})

export const recoveryIdSchema = guid('The id of the recovery.', 'b3b3c5c4-1f0e-4b36-9a55-0d8a5a6c7e21')

export const recoverySchema = completeComponent(
  'Recovery',
  'A recovery sends the parked deliveries of a subscription again. A backfill sends events of the journal that the subscription did not get.',
  {
    recoveryId: recoveryIdSchema,
    subscriptionId: subscriptionIdSchema,
    kind: choice(
      ['recovery', 'backfill'],
      '`recovery`: sends parked deliveries again. `backfill`: sends events of the journal.',
      'recovery',
    ),
    startedBy: choice(
      ['request', 'recoverRejected'],
      '`request`: a client started it. `recoverRejected`: it started automatically, because the subscription has this setting and the endpoint acknowledged a delivery after it had rejected some. ' +
        'It sends only deliveries that were not sent again before.',
      'request',
    ),
    ...selection,
    state: choice(
      STATES,
      '`running`: it sends deliveries. `paused`: it resumes automatically; `waitingFor` has the reason. `done`: it has processed all deliveries. `cancelled`: see `cancelledBecause`.',
      'running',
    ),
    waitingFor: orNull(
      choice(
        WAITING_FOR,
        'Why a paused recovery sends nothing. `endpoint-cooling-down`: the endpoint is in a cool-down. ' +
          '`endpoint-answers`: a delivery that was sent three seconds ago has no result yet, because the endpoint is slow, its limits hold it, or the workers are busy. `subscription-enabled`: the subscription is disabled. ' +
          '`subscription-resumed`: the subscription is paused. ' +
          '`broker`: the message broker of the service is unavailable.',
        null,
      ),
    ),
    cancelledBecause: orNull(
      choice(
        ['requested', 'subscription-deleted', 'no-progress', 'parked-again'],
        'Why the recovery was cancelled; null if it was not. `no-progress`: it was paused and sent nothing for 30 days. `parked-again`: it had started automatically, and a quarter of what it had sent was parked again; the next one starts after the next 2xx.',
        null,
      ),
    ),
    found: count('The number of selected deliveries or events when the recovery began.', 1280),
    sent: count('The number of deliveries sent so far. Read a delivery to see its result.', 412),
    skipped: count(
      'The number of deliveries that were no longer parked when the recovery reached them; of a backfill, those that exist already.',
      0,
    ),
    failed: count(
      'The number of deliveries that could not be sent, mostly because their body is no longer kept (see `parked` of the subscription), or the journal has no data of their event.',
      0,
    ),
    remaining: count('The number of deliveries still to be sent. After a cancellation they stay parked.', 868),
    parkedSince: count(
      'The number of deliveries of the subscription that were parked after the recovery began: deliveries that it sent and that failed again, ' +
        'and newly parked ones.',
      3,
    ),
    perSecond: {
      type: 'number',
      minimum: 0,
      description:
        'The current rate in deliveries per second. It doubles every three seconds up to the limit; after a pause it begins at 1 again. 0 while it is paused or over.',
      examples: [16],
    },
    startedAt: moment('When the recovery began, in UTC.', '2026-11-20T19:30:00.000Z'),
    updatedAt: moment('When the recovery was last updated, in UTC.', '2026-11-20T19:30:41.000Z'),
    endedAt: momentOrNull('When the recovery was done or cancelled, in UTC; null while it runs.', null),
  },
)

export type RecoveryView = ValueOf<typeof recoverySchema>

export const recoveryListSchema = completeComponent('RecoveryList', 'The newest recoveries of a subscription.', {
  items: { type: 'array', description: 'The recoveries, the newest first.', items: recoverySchema },
})

export const recoveryPageSchema = pageSchema('RecoveryPage', 'A page of recoveries.', recoverySchema)
