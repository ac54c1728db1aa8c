import {
  type Attempt,
  type DeliveryId,
  type EventData,
  filterRefusal,
  hasLimits,
  isPaused,
  receives,
  type Subscription,
  type SubscriptionId,
} from '@switchhook/contracts'
import type { EndpointHealth, JournalEntry, ListedDelivery } from '@switchhook/store'
import { momentOf } from '../moment.ts'

/** Everything that is stored about one event and one subscription. */
export interface Facts {
  readonly eventType: string
  /** Absent: the journal does not have it. */
  readonly data?: EventData
  /** An event whose finished deliveries still have records, with all of its subscriptions. */
  readonly event?: Pick<JournalEntry, 'fannedOutAt' | 'subscriptionIds'>
  /** An older event, if the journal has it. Its subscriptions may be cut. */
  readonly journaled?: Pick<JournalEntry, 'fannedOutAt' | 'subscriptionIds' | 'subscriptionCount'>
  readonly subscriptionId: SubscriptionId
  readonly deliveryId: DeliveryId
  /** The current subscription; absent if it was deleted. */
  readonly subscription?: Subscription
  readonly delivery?: ListedDelivery
  /** The body of a parked delivery is no longer kept, and the journal does not have it either. */
  readonly isBodyDropped?: boolean
  /** The current health of the endpoint. */
  readonly health: EndpointHealth
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

/** Why the present filter of the subscription refuses the event. Undefined: it does not, or the event's data is not known. */
export const refusalOf = ({ subscription, eventType, data }: Facts): string | undefined =>
  data && filterRefusal(subscription?.filter, eventType, data)

/** The rule of `receives` without `enabled`: a disabled subscription has a verdict of its own. */
export const receivesType = (subscription: Subscription, eventType: string): boolean =>
  receives({ ...subscription, enabled: true }, eventType)

export const wasMatched = ({ event, journaled, subscriptionId }: Facts): boolean =>
  (event ?? journaled)?.subscriptionIds.includes(subscriptionId) ?? false

export const FIRST_DUE = 'Due now: the first attempt is in progress or about to be made.'

export const UNLESS_BEGUN = 'The delivery will not be sent, unless its first attempt has already begun.'

export const NO_RECORD =
  'There is no record of a delivery: it was delivered, withdrawn or expired long ago, or the event did not match the subscription.'

export function coolingSentence(health: EndpointHealth, delivery?: ListedDelivery, end = ''): string {
  const next = delivery?.nextAttemptAt ?? null
  const isUsedUp = next !== null && health.openUntilMs !== null && Date.parse(next) < health.openUntilMs
  const then = isUsedUp && end === '' ? ', still in the cool-down, and then waits for its next slot' : ''
  const after = next === null ? '' : ` This delivery is due again at about ${next}${then}.`
  const { consecutiveFailures } = health
  // A single failure with Retry-After starts a cool-down.
  const row = consecutiveFailures > 1 ? ` ${times(consecutiveFailures)} in a row` : ''
  return `The endpoint failed${row} and is not contacted until ${momentOf(health.openUntilMs)}.${after}${end}`
}

/**
 * Follows the delivery worker's rule for first attempts (`admit.ts`): a test can have any event type, and a delivery that
 * was sent again is parked again instead of being withdrawn.
 */
export function endSentence(facts: Facts): string {
  const { eventType, delivery, subscription } = facts
  if (delivery === undefined || delivery.attempt > 0) return ''
  const end = `it will be ${delivery.run > 1 ? 'parked again' : 'withdrawn'} when it is due`
  if (subscription === undefined) return ` The subscription was deleted, so ${end}.`
  if (!subscription.enabled) return ` The subscription is disabled: unless you enable it, ${end}.`
  if (delivery.trial !== undefined || delivery.isRequested === true) return ''
  if (!receivesType(subscription, eventType))
    return ` The subscription no longer receives ${eventType}: unless you add it again, ${end}.`
  const refusal = refusalOf(facts)
  return refusal === undefined ? '' : ` The filter now refuses the event (${refusal}): unless you change it, ${end}.`
}

export function heldSentence({ nextAttemptAt, attempt, url }: ListedDelivery, { subscription, nowMs }: Facts): string {
  if (subscription === undefined) {
    if (attempt === 0) return 'It was held.'
    // There is no endpoint to send it to: clients received it.
    return url === '' ? 'The subscription was deleted, so it will be parked when it is due.' : HELD_BEFORE
  }
  const { mode, paused, pausedUntil } = subscription
  if (isPaused(subscription, nowMs)) {
    const next = mode === 'pull' ? 'A client can receive it' : 'It is sent'
    return paused === true
      ? `Held: the subscription is paused. ${next} when the subscription is resumed.`
      : `Held: the subscription is paused until ${pausedUntil}. ${next} then.`
  }
  if (mode === 'pull') {
    return nextAttemptAt === null
      ? 'Held until a client receives it.'
      : `Held: a client can receive it again at ${nextAttemptAt}.`
  }
  if (hasLimits(subscription))
    return `Held: more is due than the subscription allows (${limitsText(subscription)}). It is sent when its turn comes.`
  return HELD_BEFORE
}

const HELD_BEFORE = 'It was held, because the subscription was paused or limited. It is sent soon.'

const limitsText = ({ maxInFlight, maxPerSecond }: Subscription): string =>
  Object.entries({ maxInFlight, maxPerSecond })
    .flatMap(([name, limit]) => (limit === undefined ? [] : [`${name} ${limit}`]))
    .join(', ')

export function sendAgainSentence({ subscription, isBodyDropped, delivery }: Facts): string {
  if (isBodyDropped === true) return 'Its body is no longer kept, so it cannot be sent again.'
  if (subscription === undefined) return 'The subscription was deleted, so it cannot be sent again.'
  if (!subscription.enabled) return 'The subscription is disabled: enable it to send the delivery again.'
  const isRecovered = subscription.recoverRejected && delivery?.parkedReason === 'rejected' && delivery.run === 1
  return `${isRecovered ? RECOVERED : ''}You can send it again.`
}

const RECOVERED =
  'With recoverRejected, the next 2xx of the endpoint starts a recovery of what it has rejected since the setting was made. '

export function parkedSentence(delivery: ListedDelivery): string {
  const { eventType, parkedReason, parkedCause, run, attempt, attempts } = delivery
  const last = attempts.at(-1)
  if (parkedReason === 'rejected') return `${attemptSentence(last)}, which is not retried.`
  const made = attempt - (attempts.findLast((each) => each.run < run)?.attempt ?? 0)
  const end = made === 0 ? '.' : `; ${attemptSentence(last)}.`
  if (parkedCause === 'held-limit')
    return `more deliveries were held than the limit allows, and the oldest were parked${end}`
  if (parkedCause === 'waiting-limit')
    return `as many deliveries of the tenant waited for a retry as may, so this one was parked instead${end}`
  if (parkedCause === 'withdrawn') {
    return made === 0
      ? `when it was sent again, the subscription was deleted, disabled or unsubscribed from ${eventType}, or had a filter that refuses the event.`
      : `the subscription was deleted, and clients receive its deliveries no more${end}`
  }
  return `the schedule ended ${made === 0 ? 'before an attempt could be made' : `after ${times(made, 'attempt')}`}${end}`
}

export function failureSentence(last: Attempt | undefined): string {
  if (last === undefined) return 'No attempt was made yet, usually because the endpoint was in a cool-down.'
  const sentence = attemptSentence(last)
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`
}

export function attemptSentence(attempt: Attempt | undefined): string {
  if (attempt === undefined) return 'no attempt is recorded'
  const { attempt: number, at, status, outcome, detail } = attempt
  const nothing = outcome === 'lapsed' ? 'had no outcome when its lease ended' : 'got no answer'
  const result = status === null ? `${nothing} (${outcome})` : `was answered with ${status}`
  return `attempt ${number} at ${at} ${result}${detail === undefined ? '' : ` (${detail})`}`
}

const times = (count: number, noun = 'time'): string => `${count} ${noun}${count === 1 ? '' : 's'}`
