import type { FailureCode } from '../errors/failure.ts'
import { compileSchema } from '../errors/validator.ts'
import { EVENT_TYPES, type EventType, Unparsable } from '../events/event.ts'
import { parseSubscriptionId, type SubscriptionId } from '../ids.ts'
import type { Attempt } from './outcome.ts'

/** A request to try out the endpoint of a subscription, from the api to a delivery worker. */
export interface ReceiverCheck {
  readonly checkId: string
  readonly subscriptionId: SubscriptionId
  readonly tenant: string | null
  /** Of the examples that are sent. */
  readonly eventType: EventType
  /** ISO 8601, UTC: nobody waits for it any longer. */
  readonly expiresAt: string
}

/** What a POST of a check came to. */
export type CheckedPost = Pick<Attempt, 'outcome' | 'status' | 'durationMs'>

/** What was seen; a POST that would have told nothing is left out. */
export interface CheckFacts {
  /** Deadline of an attempt, in ms. */
  readonly deadlineMs: number
  readonly isSigned: boolean
  readonly plain: CheckedPost
  /** The same delivery once more. */
  readonly duplicate?: CheckedPost
  /** A signature that is not ours. */
  readonly forged?: CheckedPost
  /** Signed, with a time that is long past. */
  readonly stale?: CheckedPost
}

/**
 * Why a worker sent nothing. An api that is older than the worker does not know a code that is added here: it answers as for a
 * check that was not finished (`readCheckResult`).
 */
const CHECK_REFUSALS = ['secret-unavailable', 'subscription-not-found'] as const satisfies readonly FailureCode[]

interface CheckRefusal {
  readonly refused: (typeof CHECK_REFUSALS)[number]
}

/** The result of a check, from a delivery worker to the api. */
export type CheckResult = CheckFacts | CheckRefusal

/** Reads a result that a worker of another version may have stored; undefined: this version does not understand it. */
export function readCheckResult(stored: CheckResult): CheckResult | undefined {
  const { refused, plain }: { readonly refused?: unknown; readonly plain?: unknown } = {
    refused: undefined,
    plain: undefined,
    ...stored,
  }
  if (refused !== undefined) return CHECK_REFUSALS.some((known) => known === refused) ? stored : undefined
  return typeof plain === 'object' && plain !== null ? stored : undefined
}

const validate = compileSchema<ReceiverCheck>({
  type: 'object',
  required: ['checkId', 'subscriptionId', 'tenant', 'eventType', 'expiresAt'],
  properties: {
    checkId: { type: 'string', format: 'uuid' },
    subscriptionId: { type: 'string', format: 'uuid' },
    tenant: { type: ['string', 'null'] },
    eventType: { type: 'string', enum: EVENT_TYPES },
    expiresAt: { type: 'string', format: 'date-time' },
  },
})

/** @throws Unparsable */
export function parseReceiverCheck(content: Buffer): ReceiverCheck {
  const result = validate(parseJson(content))
  if (!result.ok) throw new Unparsable(result.faults.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; '))
  return { ...result.value, subscriptionId: parseSubscriptionId(result.value.subscriptionId) }
}

function parseJson(content: Buffer): unknown {
  try {
    return JSON.parse(content.toString())
  } catch (error) {
    throw new Unparsable('not JSON', { cause: error })
  }
}
