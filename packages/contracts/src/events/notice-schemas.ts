import { OutcomeNumber, ParkedReasonNumber } from '../deliveries/outcome.ts'
import { numberedSchema } from './numbered-schema.ts'

const guid = (description: string) => ({ type: 'string', format: 'uuid', description }) as const
const time = (description: string) => ({ type: 'string', format: 'date-time', description }) as const

const subscriptionId = guid('The subscription whose endpoint it is.')
const url = { type: 'string', description: 'The endpoint, without the query, which may hold a secret.' }
const occurredAt = time("Equals the envelope's.")
const lastStatus = {
  type: ['integer', 'null'],
  description: 'The HTTP status of that attempt; null without an answer.',
}

const objectOf = <Example extends object>(description: string, properties: object, example: Example) => ({
  type: 'object',
  description,
  required: Object.keys(properties),
  properties,
  examples: [example],
})

/** The rule of the delivery workers: else an endpoint for notices that fails would make notices for ever. */
const NOT_OF_NOTICES =
  'What becomes of deliveries of `webhook.…` events is not told, nor is an outage that only they have met.'

const SUBSCRIPTION = '4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11'
const URL = 'https://client.example/hooks/calls'

/** JSON Schema 2020-12 of the `data` of a `webhook.endpoint.failing` event. */
export const endpointFailingSchema = objectOf(
  `An endpoint has failed so often in a row that it is left alone for a cool-down. Told once for each outage, however long it lasts. ${NOT_OF_NOTICES}`,
  {
    subscriptionId,
    url,
    failures: { type: 'integer', minimum: 1, description: 'Transient failures in a row that it took.' },
    since: time('When it began to be left alone.'),
    until: time('When its first cool-down ends, and one attempt finds out.'),
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
)

/** JSON Schema 2020-12 of the `data` of a `webhook.endpoint.recovered` event. */
export const endpointRecoveredSchema = objectOf(
  `An endpoint of which it was told that it fails answers again. What waits for it comes by the schedule. Not told if what was answered was a delivery of a \`webhook.…\` event, or if the broker was away just then: \`health\` of the subscription is the truth.`,
  {
    subscriptionId,
    url,
    since: time('When it began to be left alone, as the notice said that told of it.'),
    recoveredAt: time('When it answered.'),
    occurredAt,
  },
  {
    subscriptionId: SUBSCRIPTION,
    url: URL,
    since: '2026-11-20T17:06:01.173Z',
    recoveredAt: '2026-11-20T17:09:02.401Z',
    occurredAt: '2026-11-20T17:09:02.401Z',
  },
)

/** JSON Schema 2020-12 of the `data` of a `webhook.delivery.parked` event. */
export const deliveryParkedSchema = objectOf(
  `A delivery was given up, and is kept. Told once for each run; read the delivery to learn how it stands now. Not told of a test. ${NOT_OF_NOTICES}`,
  {
    deliveryId: guid('The delivery. It can be read, and sent again.'),
    subscriptionId,
    url,
    eventId: guid('The event that it tells of.'),
    eventType: { type: 'string', description: 'The type of that event.' },
    reason: numberedSchema(
      ParkedReasonNumber,
      'Why it was parked. `exhausted`: the last scheduled attempt failed, or the endpoint was still in its cool-down long after it was due. `rejected`: the endpoint refused it for good.',
    ),
    run: { type: 'integer', minimum: 1, description: '1 for the first schedule; each sending again is one more.' },
    attempts: { type: 'integer', minimum: 0, description: 'POSTs made, over all runs.' },
    lastOutcome: numberedSchema(OutcomeNumber, 'Outcome of the last attempt; `unknown` if none was made.'),
    lastStatus,
    parkedAt: time('When it was parked.'),
    occurredAt,
  },
  {
    deliveryId: '6f9c2f0e-54c6-5a0e-9b57-6d1f0c6f5a0b',
    subscriptionId: SUBSCRIPTION,
    url: URL,
    eventId: '9b2f1c54-3c1e-4d58-9d0b-6f6a5b8f2f10',
    eventType: 'call.status',
    reason: ParkedReasonNumber.exhausted,
    run: 1,
    attempts: 8,
    lastOutcome: OutcomeNumber.timeout,
    lastStatus: null,
    parkedAt: '2026-11-20T17:06:01.173Z',
    occurredAt: '2026-11-20T17:06:01.173Z',
  },
)

/** JSON Schema 2020-12 of the `data` of a `webhook.parked.limit` event. */
export const parkedLimitSchema = objectOf(
  'The parked deliveries of a subscription exceed their limit: the oldest lose their body, and later the record of them. Sent once each time that the limit is crossed. Send parked deliveries again, or mend the endpoint, before more are lost. `parked` of the subscription says how many are affected.',
  {
    subscriptionId: guid('The subscription whose deliveries are parked.'),
    limit: {
      type: 'integer',
      minimum: 1,
      description: 'How many parked deliveries of the subscription keep their body, the newest ones.',
    },
    parked: { type: 'integer', minimum: 1, description: 'How many were parked when the limit was crossed.' },
    occurredAt,
  },
  {
    subscriptionId: SUBSCRIPTION,
    limit: 100_000,
    parked: 100_240,
    occurredAt: '2026-11-20T17:06:01.173Z',
  },
)
