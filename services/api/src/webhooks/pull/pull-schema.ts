import { CONNECTION_REASONS, type Outcome } from '@switchhook/contracts'
import { component } from '../../http/component.ts'
import { count } from '../../http/schema-parts.ts'
import { deliveryIdSchema } from '../deliveries/delivery-schema.ts'

const integer = (minimum: number, maximum: number, usual: number, description: string) => ({
  type: 'integer',
  minimum,
  maximum,
  default: usual,
  description,
  examples: [usual],
})

export const receiveSchema = component('Receive', {
  type: 'object',
  description: 'How many deliveries to receive, and how long to wait for the first. All fields are optional.',
  additionalProperties: false,
  properties: {
    max: integer(1, 100, 10, 'The maximum number of deliveries.'),
    waitSeconds: integer(0, 25, 20, 'How long the request waits for a delivery. Cancel the request to stop waiting.'),
    leaseSeconds: integer(
      10,
      300,
      30,
      'How long the deliveries are yours. Report each outcome before the lease ends; otherwise the attempt counts as failed (`lapsed`), and the delivery is due again immediately.',
    ),
  },
  examples: [{ max: 100, leaseSeconds: 60 }],
})

const time = (description: string, example: string) => ({
  type: 'string',
  format: 'date-time',
  description,
  examples: [example],
})

const leaseToken = {
  type: 'string',
  minLength: 1,
  maxLength: 32,
  description: 'Proves that the delivery is yours. Each receipt of a delivery has another one.',
  examples: ['1795194391173030'],
} as const

export const receivedSchema = component('Received', {
  type: 'object',
  description: 'The received deliveries, the one that was due first at the beginning.',
  required: ['items', 'held', 'oldestHeldAt'],
  properties: {
    items: {
      type: 'array',
      description: 'Empty if no delivery became due in time. There can be fewer than `max` even if more are held.',
      items: component('ReceivedDelivery', {
        type: 'object',
        description: 'A delivery: one attempt, which is yours until `leasedUntil`.',
        required: ['deliveryId', 'attempt', 'leaseToken', 'leasedUntil', 'headers', 'body'],
        properties: {
          deliveryId: deliveryIdSchema,
          attempt: count('The number of this attempt, sent as `X-SVC-Attempt`.', 1),
          leaseToken,
          leasedUntil: time('When the lease ends, by the clock of Switchhook.', '2026-11-20T17:06:31.173Z'),
          headers: {
            type: 'object',
            description: 'The headers of the POST that this attempt would be, signed now.',
            additionalProperties: { type: 'string' },
            examples: [{ 'X-SVC-Event': 'call.status', 'X-SVC-Attempt': '1' }],
          },
          body: {
            type: 'string',
            description: 'The body of that POST. The signature covers its bytes in UTF-8.',
            examples: ['{"eventType":"call.status"}'],
          },
        },
      }),
    },
    held: count('How many deliveries are still held, without those that clients have received.', 0),
    oldestHeldAt: {
      ...time('Since when the oldest of them is due; null if there is none.', '2026-11-20T17:06:01.173Z'),
      type: ['string', 'null'],
    },
  },
})

export const outcomesSchema = component('ReportedOutcomes', {
  type: 'object',
  description: 'The outcomes of received deliveries.',
  required: ['items'],
  additionalProperties: false,
  properties: {
    items: {
      type: 'array',
      description: 'One item per delivery.',
      minItems: 1,
      maxItems: 100,
      items: component('ReportedOutcome', {
        type: 'object',
        description: 'The outcome of one attempt: exactly one of `status`, `error` and `release`.',
        required: ['deliveryId', 'leaseToken'],
        additionalProperties: false,
        properties: {
          deliveryId: deliveryIdSchema,
          leaseToken,
          status: {
            type: 'integer',
            minimum: 200,
            maximum: 599,
            description:
              'The HTTP status that your handler answered, or the one that says the same: 2xx acknowledges, 408, 425, 429 and 5xx are retried, any other parks.',
            examples: [204],
          },
          error: {
            type: 'string',
            enum: CONNECTION_REASONS,
            description: 'Why there was no status. The delivery is retried.',
            examples: ['timeout'],
          },
          release: {
            type: 'boolean',
            description: 'true gives the delivery back, to its place among those that are due. No attempt is counted.',
            examples: [true],
          },
          durationMs: {
            type: 'integer',
            minimum: 0,
            maximum: 3_600_000,
            description: 'How long the attempt took. Default: the time since the delivery was received.',
            examples: [42],
          },
          answer: {
            type: 'string',
            maxLength: 1_024,
            description:
              'The beginning of the answer, shown with the attempt. Secrets are removed. Ignored without a status, and for a 2xx.',
            examples: ['{"error":"no such customer"}'],
          },
        },
      }),
    },
  },
  examples: [{ items: [{ deliveryId: deliveryIdSchema.examples[0], leaseToken: '1795194391173030', status: 204 }] }],
})

export const outcomeResultsSchema = component('OutcomeResults', {
  type: 'object',
  description: 'What became of each delivery, in the order of the request.',
  required: ['items'],
  properties: {
    items: {
      type: 'array',
      description: 'One item per delivery.',
      items: component('OutcomeResult', {
        type: 'object',
        description: 'The state of a delivery after its outcome was reported.',
        required: ['deliveryId', 'result', 'state', 'nextAttemptAt'],
        properties: {
          deliveryId: deliveryIdSchema,
          result: {
            type: 'string',
            enum: ['done', 'lease-lost'],
            description:
              '`lease-lost`: the lease had ended, or the outcome was reported before. `state` shows what became of the delivery.',
            examples: ['done'],
          },
          state: {
            type: 'string',
            description:
              'The state of the delivery, as in `GET /webhooks/deliveries/{deliveryId}`; `unknown` if its record has expired.',
            examples: ['acknowledged'],
          },
          nextAttemptAt: {
            ...time('When the next attempt is due; null if there is none.', '2026-11-20T17:06:11.180Z'),
            type: ['string', 'null'],
          },
        },
      }),
    },
  },
})

export interface Receive {
  readonly max?: number
  readonly waitSeconds?: number
  readonly leaseSeconds?: number
}

export interface OutcomeItem {
  readonly deliveryId: string
  readonly leaseToken: string
  readonly status?: number
  readonly error?: (typeof CONNECTION_REASONS)[number]
  readonly release?: boolean
  readonly durationMs?: number
  readonly answer?: string
}

/** The outcome that a POST with this result has. Undefined: the delivery is given back. */
export function outcomeOf({
  status,
  error,
  answer,
}: Omit<OutcomeItem, 'deliveryId' | 'leaseToken'>): Outcome | undefined {
  if (error !== undefined) return { kind: 'unreachable', reason: error }
  if (status === undefined) return undefined
  if (status < 300) return { kind: 'delivered', status }
  return { kind: 'answered', status, ...(answer !== undefined && { answer }) }
}

/** The members of which an item has exactly one. */
export const outcomesIn = (item: OutcomeItem): number =>
  [item.status, item.error, item.release || undefined].filter((each) => each !== undefined).length
