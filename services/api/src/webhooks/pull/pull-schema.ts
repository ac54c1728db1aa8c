import { CONNECTION_REASONS, type Outcome } from '@switchhook/contracts'
import {
  choice,
  completeComponent,
  component,
  count,
  flag,
  integer,
  list,
  moment,
  momentOrNull,
  text,
  type ValueOf,
} from '../../http/schema.ts'
import { deliveryIdSchema } from '../deliveries/delivery-schema.ts'

const amount = (minimum: number, maximum: number, usual: number, description: string) =>
  integer(description, usual, { minimum, maximum, default: usual })

export const receiveSchema = component('Receive', {
  type: 'object',
  description: 'How many deliveries to receive, and how long to wait for the first. All fields are optional.',
  additionalProperties: false,
  properties: {
    max: amount(1, 100, 10, 'The maximum number of deliveries.'),
    waitSeconds: amount(0, 25, 20, 'How long the request waits for a delivery. Cancel the request to stop waiting.'),
    leaseSeconds: amount(
      10,
      300,
      30,
      'How long the deliveries are yours. Report each outcome before the lease ends; otherwise the attempt counts as failed (`lapsed`), and the delivery is due again immediately.',
    ),
  },
  examples: [{ max: 100, leaseSeconds: 60 }],
})

const LEASE_TOKEN = '1795194391173030.q83vEjRWeJCrze8SNFZ4kA'

const leaseToken = text('Proves that the delivery is yours. Each receipt of a delivery has another one.', LEASE_TOKEN, {
  minLength: 1,
  maxLength: 64,
})

export const receivedSchema = completeComponent(
  'Received',
  'The received deliveries, the one that was due first at the beginning.',
  {
    items: list(
      'Empty if no delivery became due in time. There can be fewer than `max` even if more are held.',
      completeComponent('ReceivedDelivery', 'A delivery: one attempt, which is yours until `leasedUntil`.', {
        deliveryId: deliveryIdSchema,
        attempt: count('The number of this attempt, sent as `X-SVC-Attempt`.', 1),
        leaseToken,
        leasedUntil: moment('When the lease ends, by the clock of Switchhook.', '2026-11-20T17:06:31.173Z'),
        headers: {
          type: 'object',
          description: 'The headers of the POST that this attempt would be, signed now.',
          additionalProperties: { type: 'string' },
          examples: [{ 'X-SVC-Event': 'call.status', 'X-SVC-Attempt': '1' }],
        },
        body: text('The body of that POST. The signature covers its bytes in UTF-8.', '{"eventType":"call.status"}'),
      }),
    ),
    held: count('How many deliveries are still held, without those that clients have received.', 0),
    oldestHeldAt: momentOrNull('Since when the oldest of them is due; null if there is none.'),
  },
)

export const outcomesSchema = component('ReportedOutcomes', {
  type: 'object',
  description: 'The outcomes of received deliveries.',
  required: ['items'],
  additionalProperties: false,
  properties: {
    items: list(
      'One item per delivery.',
      component('ReportedOutcome', {
        type: 'object',
        description: 'The outcome of one attempt: exactly one of `status`, `error` and `release`.',
        required: ['deliveryId', 'leaseToken'],
        additionalProperties: false,
        properties: {
          deliveryId: deliveryIdSchema,
          leaseToken,
          status: integer(
            'The HTTP status that your handler answered, or the one that says the same: 2xx acknowledges, 408, 425, 429 and 5xx are retried, any other parks.',
            204,
            { minimum: 200, maximum: 599 },
          ),
          error: choice(CONNECTION_REASONS, 'Why there was no status. The delivery is retried.', 'timeout'),
          release: flag(
            'true gives the delivery back, to its place among those that are due. No attempt is counted.',
            true,
          ),
          durationMs: integer('How long the attempt took. Default: the time since the delivery was received.', 42, {
            minimum: 0,
            maximum: 3_600_000,
          }),
          answer: text(
            'The beginning of the answer, shown with the attempt. Secrets are removed. Ignored without a status, and for a 2xx.',
            '{"error":"no such customer"}',
            { maxLength: 1_024 },
          ),
        },
      }),
      { minItems: 1, maxItems: 100 },
    ),
  },
  examples: [{ items: [{ deliveryId: deliveryIdSchema.examples[0], leaseToken: LEASE_TOKEN, status: 204 }] }],
})

export const outcomeResultsSchema = completeComponent(
  'OutcomeResults',
  'What became of each delivery, in the order of the request.',
  {
    items: list(
      'One item per delivery.',
      completeComponent('OutcomeResult', 'The state of a delivery after its outcome was reported.', {
        deliveryId: deliveryIdSchema,
        result: choice(
          ['done', 'lease-lost'],
          '`lease-lost`: the lease had ended, or an earlier report, also one that failed, has used it. `state` shows what became of the delivery.',
          'done',
        ),
        state: text(
          'The state of the delivery, as in `GET /webhooks/deliveries/{deliveryId}`; `unknown` if its record has expired.',
          'acknowledged',
        ),
        nextAttemptAt: momentOrNull('When the next attempt is due; null if there is none.', '2026-11-20T17:06:11.180Z'),
      }),
    ),
  },
)

export type OutcomeItem = ValueOf<typeof outcomesSchema>['items'][number]

/** The outcome that a POST with this result has. Undefined: the delivery is given back. */
export function outcomeOf(item: Pick<OutcomeItem, 'status' | 'error' | 'answer'>): Outcome | undefined {
  const { status, error, answer } = item
  if (error !== undefined) return { kind: 'unreachable', reason: error }
  if (status === undefined) return undefined
  if (status < 300) return { kind: 'delivered', status }
  return { kind: 'answered', status, ...(answer !== undefined && { answer: beginningOf(answer) }) }
}

/** As much as a worker reads of the answer to a POST. The outcome is stored with it until a worker records it (docs/limits.md). */
const ANSWER_BYTES = 1_024

/** Without a word that is cut, which may be half of a secret. */
function beginningOf(answer: string): string {
  // JSON writes a control character in six bytes.
  const line = answer.replaceAll(/\p{Cc}/gu, ' ')
  const { read } = new TextEncoder().encodeInto(line, new Uint8Array(ANSWER_BYTES))
  return read === line.length ? line : line.slice(0, line.lastIndexOf(' ', read) + 1)
}
