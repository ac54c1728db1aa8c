import type { FailureCode } from '../errors/failure.ts'
import { compileSchema, objectSchema } from '../errors/validator.ts'
import { EVENT_TYPES, type EventType, parsed, parseJson } from '../events/event.ts'
import { exampleDataOf } from '../events/event-catalogue.ts'
import type { Attempt } from '../events/outcome.ts'
import { type GuidOf, guid, time, type ValueOf } from '../events/schema-parts.ts'
import type { EventId, SubscriptionId } from '../ids.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { type Delivery, firstDeliveriesOf } from './delivery.ts'
import type { Trial } from './trial.ts'

export type CheckedPost = Pick<Attempt, 'outcome' | 'status' | 'durationMs' | 'detail'>

/** What the worker observed. POSTs that would prove nothing are skipped. */
export interface CheckFacts {
  readonly deadlineMs: number
  readonly isSigned: boolean
  readonly plain: CheckedPost
  /** The same delivery sent twice. */
  readonly duplicate?: CheckedPost
  /** Sent with a wrong signature. */
  readonly forged?: CheckedPost
  /** Signed with a time long past. */
  readonly stale?: CheckedPost
  /** On a kept connection, the endpoint sent something that was no answer to the request. */
  readonly sendsStrays?: boolean
}

/**
 * Why a worker sent nothing. An api of an earlier version does not know codes that are added here; it responds as if the
 * check had not finished (`readCheckResult`).
 */
const CHECK_REFUSALS = ['secret-unavailable', 'subscription-not-found'] as const satisfies readonly FailureCode[]

export type CheckResult = CheckFacts | { readonly refused: (typeof CHECK_REFUSALS)[number] }

/** Reads a result that a worker of any version stored. Undefined: this version does not understand it. */
export function readCheckResult(stored: CheckResult): CheckResult | undefined {
  const { refused, plain } = { ...stored } as { readonly refused?: unknown; readonly plain?: unknown }
  if (refused !== undefined) return CHECK_REFUSALS.some((known) => known === refused) ? stored : undefined
  return typeof plain === 'object' && plain !== null ? stored : undefined
}

const subscriptionId: GuidOf<SubscriptionId> = guid('The subscription whose endpoint is checked.')

const receiverCheckSchema = objectSchema({
  checkId: guid('The check.'),
  subscriptionId,
  tenant: { type: ['string', 'null'] },
  eventType: { type: 'string', enum: EVENT_TYPES },
  expiresAt: time('When the api stops waiting for the result.'),
})

/** A request from the api to a delivery worker to check the endpoint of a subscription. */
export type ReceiverCheck = ValueOf<typeof receiverCheckSchema>

const validate = compileSchema<ReceiverCheck>(receiverCheckSchema)

/** @throws Unparsable */
export const parseReceiverCheck = (content: Buffer): ReceiverCheck => parsed(validate(parseJson(content)))

/** A test delivery: the documented example of an event type with `occurredAt` set to `at`. */
export function exampleDeliveryOf(
  { eventId, eventType, trial, at }: { eventId: EventId; eventType: EventType; trial: Trial; at: Date },
  subscription: Pick<Subscription, 'id' | 'url' | 'tenant'>,
): Delivery {
  const occurredAt = at.toISOString()
  const data = exampleDataOf(eventType, at)
  const event = { eventId, eventType, occurredAt, tenant: subscription.tenant, data }
  return { ...firstDeliveriesOf(event, occurredAt, JSON.stringify(data))(subscription), trial }
}
