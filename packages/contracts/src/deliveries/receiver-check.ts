import type { FailureCode } from '../errors/failure.ts'
import { compileSchema } from '../errors/validator.ts'
import { EVENT_TYPES, type EventType, parsed, parseJson } from '../events/event.ts'
import type { Attempt } from '../events/outcome.ts'
import { objectSchema } from '../events/schema-parts.ts'
import { parseSubscriptionId, type SubscriptionId, type Tenant } from '../ids.ts'

/** A request from the api to a delivery worker to check the endpoint of a subscription. */
export interface ReceiverCheck {
  readonly checkId: string
  readonly subscriptionId: SubscriptionId
  readonly tenant: Tenant
  readonly eventType: EventType
  /** ISO 8601, UTC: the api stops waiting for the result. */
  readonly expiresAt: string
}

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

const validate = compileSchema<ReceiverCheck>(
  objectSchema({
    checkId: { type: 'string', format: 'uuid' },
    subscriptionId: { type: 'string', format: 'uuid' },
    tenant: { type: ['string', 'null'] },
    eventType: { type: 'string', enum: EVENT_TYPES },
    expiresAt: { type: 'string', format: 'date-time' },
  }),
)

/** @throws Unparsable */
export function parseReceiverCheck(content: Buffer): ReceiverCheck {
  const check = parsed(validate(parseJson(content)))
  return { ...check, subscriptionId: parseSubscriptionId(check.subscriptionId) }
}
