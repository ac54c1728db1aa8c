import { compileSchema, objectSchema } from '../errors/validator.ts'
import { parsed, parseJson } from '../events/event.ts'
import { type Outcome, UNREACHABLE_REASONS } from '../events/outcome.ts'
import type { DeliveryId, SubscriptionId, Tenant } from '../ids.ts'

export interface ReportedOutcome {
  readonly deliveryId: DeliveryId
  /** The number of this attempt, as it was handed out. */
  readonly attempt: number
  readonly token: string
  /** The lease under which the outcome was accepted. */
  readonly lease: string
  /** ISO 8601, UTC: when it was handed out. */
  readonly at: string
  readonly durationMs: number
  readonly outcome: Outcome
}

/** Outcomes that a client reported together, from the api to a delivery worker. */
export interface OutcomeBatch {
  readonly batchId: string
  readonly tenant: Tenant
  readonly subscriptionId: SubscriptionId
  readonly items: readonly ReportedOutcome[]
}

const validate = compileSchema<OutcomeBatch>(
  objectSchema({
    batchId: { type: 'string', format: 'uuid' },
    tenant: { type: ['string', 'null'] },
    subscriptionId: { type: 'string', format: 'uuid' },
    items: {
      type: 'array',
      items: objectSchema({
        deliveryId: { type: 'string', format: 'uuid' },
        attempt: { type: 'integer', minimum: 1 },
        token: { type: 'string' },
        lease: { type: 'string' },
        at: { type: 'string', format: 'date-time' },
        durationMs: { type: 'number', minimum: 0 },
        outcome: {
          type: 'object',
          required: ['kind'],
          properties: {
            kind: { type: 'string', enum: ['delivered', 'answered', 'unreachable'] },
            status: { type: 'integer' },
            reason: { type: 'string', enum: UNREACHABLE_REASONS },
          },
        },
      }),
    },
  }),
)

/** @throws Unparsable */
export const parseOutcomeBatch = (content: Buffer): OutcomeBatch => parsed(validate(parseJson(content)))
