import type { Envelope } from '../events/envelope.ts'
import { filteredFields, passesFilter } from '../subscriptions/filter/filter.ts'
import { receives, type Subscription } from '../subscriptions/subscription.ts'
import type { Delivery } from './delivery.ts'
import { isExpired } from './expiry.ts'

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
