import { CallState } from '../events/call.ts'
import { type Envelope, isNotice } from '../events/event.ts'
import { filteredFields, passesFilter } from '../subscriptions/filter/filter.ts'
import { receives, type Subscription } from '../subscriptions/subscription.ts'
import type { Delivery } from './delivery.ts'

/**
 * Whether a first attempt of this delivery may be made now. A trial, or a delivery that the tenant asked for, may be of an
 * event that the subscription does not receive.
 * @param subscription undefined: it was deleted
 */
export function wantsFirstAttempt(subscription: Subscription | undefined, delivery: Delivery): boolean {
  if (subscription === undefined) return false
  const { eventType, trial, isRequested } = delivery
  if (trial !== undefined || isRequested === true) return subscription.enabled
  return receives(subscription, eventType) && passes(subscription, delivery)
}

/** Whether a due delivery is sent, as far as its subscription decides. One that has failed keeps its schedule. */
export const isSent = (subscription: Subscription, delivery: Delivery, nowMs: number): boolean =>
  (delivery.attempt > 0 || wantsFirstAttempt(subscription, delivery)) && !isExpired(subscription, delivery, nowMs)

/** The body is parsed only where a filter needs it. */
function passes({ filter }: Subscription, { eventType, body }: Delivery): boolean {
  if (filteredFields(filter, eventType) === undefined) return true
  return passesFilter(filter, eventType, (JSON.parse(body.toString()) as Envelope).data)
}

/**
 * Whether a delivery is too old to be sent to its subscription. Its age counts from `occurredAt` of its event, because it is
 * the news that grows old, wherever it waited. Never too old are: the end of a call, because a receiver would otherwise show
 * the call forever; notices; tests; and what the tenant asked to be sent, again or at all.
 */
export function isExpired(
  { expireAfterSeconds }: Pick<Subscription, 'expireAfterSeconds'>,
  { eventType, run, trial, isRequested, isAutomatic, body }: Delivery,
  nowMs: number,
): boolean {
  if (expireAfterSeconds === undefined || trial !== undefined || isRequested === true) return false
  if (run > 1 && isAutomatic !== true) return false
  // False also if the body has no time, which is not a number.
  const isOld = nowMs - occurredAtMsOf(body) > expireAfterSeconds * 1_000
  return isOld && !isNotice(eventType) && !(eventType === 'call.status' && isEndOfCall(body))
}

const isEndOfCall = (body: Buffer): boolean =>
  (JSON.parse(body.toString()) as { readonly data?: { readonly state?: unknown } }).data?.state === CallState.ended

const OCCURRED_AT = Buffer.from('"occurredAt":"')

/**
 * The time of a delivery's event in ms since 1970, read from its body without parsing all of it. The envelope begins with
 * `deliveryId`, `eventType` and `occurredAt`. Quotes within values are escaped, so the first match is the field.
 */
export function occurredAtMsOf(body: Buffer): number {
  const start = body.indexOf(OCCURRED_AT) + OCCURRED_AT.length
  return Date.parse(body.toString('latin1', start, body.indexOf(0x22, start)))
}
