import { OutcomeNumber, ParkedReasonNumber } from './outcome.ts'
import {
  dataSchema,
  guid,
  integer,
  nullable,
  numberedSchema,
  occurredAt,
  text,
  time,
  type ValueOf,
} from './schema-parts.ts'

const subscriptionId = guid('The subscription.')
const url = text('URL of the endpoint without its query, which may contain a secret.')
const lastStatus = nullable(integer('HTTP status of that attempt; null if there was no response.'))

/** Notices about notices could repeat for ever when the endpoint that receives them fails. */
const NOT_OF_NOTICES = 'Deliveries of `webhook.…` events never cause notices.'

const SUBSCRIPTION = '4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11'
const URL = 'https://client.example/hooks/calls'

/** Schemas of the `data` of the notices. */
export const NOTICES = {
  endpointFailing: dataSchema(
    `An endpoint failed several times in a row and is in its cool-down. Sent once per outage. ${NOT_OF_NOTICES}`,
    {
      subscriptionId,
      url,
      failures: integer('Consecutive transient failures.', { minimum: 1 }),
      since: time('When the first cool-down began.'),
      until: time('When the first cool-down ends and one attempt probes the endpoint.'),
      lastOutcome: numberedSchema(OutcomeNumber, 'Outcome of the last of these attempts.'),
      lastStatus,
      occurredAt,
    },
    {
      subscriptionId: SUBSCRIPTION,
      url: URL,
      failures: 5,
      since: '2026-11-20T17:06:01.173Z',
      until: '2026-11-20T17:06:31.173Z',
      lastOutcome: OutcomeNumber.answered,
      lastStatus: 503,
      occurredAt: '2026-11-20T17:06:01.173Z',
    },
  ),
  endpointRecovered: dataSchema(
    'An endpoint reported as failing accepts deliveries again. Waiting deliveries follow their schedule. This notice is not sent if the accepted delivery was a `webhook.…` event or if the broker was unavailable at that moment; `health` of the subscription always has the current state.',
    {
      subscriptionId,
      url,
      since: time('When the first cool-down began; same as in the `webhook.endpoint.failing` notice.'),
      recoveredAt: time('When the endpoint accepted a delivery.'),
      occurredAt,
    },
    {
      subscriptionId: SUBSCRIPTION,
      url: URL,
      since: '2026-11-20T17:06:01.173Z',
      recoveredAt: '2026-11-20T17:09:02.401Z',
      occurredAt: '2026-11-20T17:09:02.401Z',
    },
  ),
  deliveryParked: dataSchema(
    `No attempt is left, or the endpoint rejected the delivery. Sent once per run; read the delivery for its current state. Test deliveries cause no notice. ${NOT_OF_NOTICES}`,
    {
      deliveryId: guid('The delivery. You can read it and send it again.'),
      subscriptionId,
      url,
      eventId: guid('The event of the delivery.'),
      eventType: text('The type of that event.'),
      parkedReason: numberedSchema(
        ParkedReasonNumber,
        'Why the delivery was parked. `exhausted`: the last scheduled attempt failed, or the endpoint stayed in its cool-down long after that attempt was due. `rejected`: the endpoint returned a response that is not retried.',
      ),
      run: integer('1 for the first schedule; each redelivery adds one.', { minimum: 1 }),
      attempts: integer('Attempts made in all runs.', { minimum: 0 }),
      lastOutcome: numberedSchema(OutcomeNumber, 'Outcome of the last attempt; `unknown` if there was none.'),
      lastStatus,
      parkedAt: time('When the delivery was parked.'),
      occurredAt,
    },
    {
      deliveryId: '6f9c2f0e-54c6-5a0e-9b57-6d1f0c6f5a0b',
      subscriptionId: SUBSCRIPTION,
      url: URL,
      eventId: '9b2f1c54-3c1e-4d58-9d0b-6f6a5b8f2f10',
      eventType: 'call.status',
      parkedReason: ParkedReasonNumber.exhausted,
      run: 1,
      attempts: 8,
      lastOutcome: OutcomeNumber.timeout,
      lastStatus: null,
      parkedAt: '2026-11-20T17:06:01.173Z',
      occurredAt: '2026-11-20T17:06:01.173Z',
    },
  ),
  parkedLimit: dataSchema(
    'A subscription has more parked deliveries than the limit. The oldest lose their body first and their record later. Sent once each time the limit is crossed. Fix the endpoint or send parked deliveries again before more are lost; `parked` of the subscription shows how many are affected.',
    {
      subscriptionId,
      limit: integer('Number of parked deliveries, the newest ones, that keep their body.', { minimum: 1 }),
      parked: integer('Number of parked deliveries when the limit was crossed.', { minimum: 1 }),
      occurredAt,
    },
    { subscriptionId: SUBSCRIPTION, limit: 100_000, parked: 100_240, occurredAt: '2026-11-20T17:06:01.173Z' },
  ),
  heldLimit: dataSchema(
    'The held deliveries of a subscription are more than 80 % of their limit. Beyond the limit, those that have been held for longest are parked. Sent once each time. Receive them, resume the subscription, or raise its limits; `held` of the subscription shows how many there are.',
    {
      subscriptionId: guid(
        'The subscription: a pull subscription, a paused one, or one with `maxInFlight` or `maxPerSecond`.',
      ),
      limit: integer('How many deliveries of the subscription may be held.', { minimum: 1 }),
      held: integer('How many were held when the notice was due.', { minimum: 1 }),
      occurredAt,
    },
    { subscriptionId: SUBSCRIPTION, limit: 100_000, held: 80_120, occurredAt: '2026-11-20T17:06:01.173Z' },
  ),
} as const

/** `data` of the notices. Times are ISO 8601, UTC. */
export type NoticeData = ValueOf<(typeof NOTICES)[keyof typeof NOTICES]>

export const withoutQuery = (url: string): string => url.replace(/\?.*$/s, '')
