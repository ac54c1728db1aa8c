import { EVENT_TYPES, type EventType, Unparsable } from './event.ts'
import type { FailureCode } from './failure.ts'
import { parseSubscriptionId, type SubscriptionId } from './ids.ts'
import type { Attempt } from './outcome.ts'
import { compileSchema } from './validator.ts'

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

/** Why nothing was sent. */
interface CheckRefusal {
  readonly refused: Extract<FailureCode, 'secret-unavailable' | 'subscription-not-found'>
}

/** What a check comes to, from a delivery worker to the api. */
export type CheckResult = CheckFacts | CheckRefusal

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
