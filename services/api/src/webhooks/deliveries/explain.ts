import {
  type Attempt,
  type DeliveryId,
  type EventData,
  filteredFields,
  filterRefusal,
  hasLimits,
  isPaused,
  receives,
  type Subscription,
  type SubscriptionId,
} from '@switchhook/contracts'
import type { EndpointHealth, EventRecord, JournalEntry, ListedDelivery } from '@switchhook/store'
import { shownTypes } from '../subscriptions/subscribed-types.ts'
import { attemptView } from './delivery-schema.ts'

/** Everything that is stored about one event and one subscription. */
export interface Facts {
  readonly eventType: string
  /** Absent: the journal does not have it. */
  readonly data?: EventData
  /** Absent: the event's record has expired, and only deliveries of it are stored. */
  readonly event?: Pick<EventRecord, 'fannedOutAt' | 'subscriptionIds'>
  /** The event's entry in the journal, if its record has expired. Its subscriptions may be cut. */
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

/** The possible results of an event at a subscription. Clients rely on the names. */
export const VERDICTS = [
  'delivered',
  'pending',
  'waiting',
  'held',
  'cooling-down',
  'parked',
  'withdrawn',
  'expired',
  'not-subscribed',
  'filtered',
  'disabled',
  'created-later',
  'changed-later',
  'deleted',
  'unknown',
] as const

export type Verdict = (typeof VERDICTS)[number]

/** Explains whether one subscription received an event, and why or why not. No clock and no I/O. */
export function explain(facts: Facts) {
  const { subscriptionId, subscription, delivery } = facts
  const [verdict, sentence] = findingOf(facts)
  const lastAttempt = delivery?.attempts.at(-1) ?? null
  return {
    subscriptionId,
    url: (delivery?.url ?? subscription?.url) || null,
    verdict,
    /** One or two sentences for people. */
    explanation: delivery?.trial === undefined ? sentence : `Test delivery. ${sentence}`,
    deliveryId: delivery !== undefined || wasMatched(facts) ? facts.deliveryId : null,
    attemptCount: delivery?.attempt ?? 0,
    lastAttempt: lastAttempt && attemptView(lastAttempt),
    deliveredAt: verdict === 'delivered' ? endOf(lastAttempt) : null,
    nextAttemptAt: delivery?.nextAttemptAt ?? null,
    coolingUntil: verdict === 'cooling-down' ? coolingUntil(facts.health) : null,
    parkedAt: delivery?.parkedAt ?? null,
    parkedReason: delivery?.parkedReason ?? null,
  }
}

type Finding = readonly [verdict: Verdict, explanation: string]

function findingOf(facts: Facts): Finding {
  if (facts.delivery !== undefined) return explainDelivery(facts.delivery, facts)
  if (facts.event === undefined)
    return facts.journaled === undefined ? explainExpired(facts) : explainJournaled(facts, facts.journaled)
  return wasMatched(facts) ? explainUnattempted(facts) : explainUnmatched(facts, facts.event.fannedOutAt)
}

function explainDelivery(delivery: ListedDelivery, facts: Facts): Finding {
  const { health } = facts
  const last = delivery.attempts.at(-1)
  switch (delivery.state) {
    case 'acknowledged':
      return ['delivered', `Delivered: ${attemptSentence(last)}.`]
    case 'parked':
      return ['parked', `Parked at ${delivery.parkedAt}: ${parkedSentence(delivery)} ${sendAgainSentence(facts)}`]
    case 'withdrawn':
      return [
        'withdrawn',
        `Not sent: before its first attempt, the subscription was deleted, disabled or unsubscribed from ${facts.eventType}, or got a filter that refuses the event.`,
      ]
    case 'expired':
      return [
        'expired',
        `Not sent${last === undefined ? '' : ` again after ${attemptSentence(last)}`}: when the next attempt was due, the event was older than the subscription allows (expireAfterSeconds).`,
      ]
    case 'held':
      return ['held', `${heldSentence(delivery, facts)}${endSentence(facts)}`]
    case 'waiting':
    case 'pending':
      if (health.state === 'open') return ['cooling-down', coolingSentence(health, delivery, endSentence(facts))]
      return delivery.state === 'pending'
        ? ['pending', `${pendingSentence(delivery)}${endSentence(facts)}`]
        : [
            'waiting',
            `${failureSentence(last)} The next attempt is due at about ${delivery.nextAttemptAt}.${endSentence(facts)}`,
          ]
    default:
      // A newer worker may store a state that is not in the type.
      return ['pending', `Its state is "${String(delivery.state)}", which this version of the api cannot explain yet.`]
  }
}

/** The event was fanned out to the subscription, and no attempt is recorded. A first attempt may be in progress. */
function explainUnattempted(facts: Facts): Finding {
  const { eventType, subscription, health } = facts
  if (subscription === undefined) return ['deleted', `The subscription was deleted. ${UNLESS_BEGUN}`]
  if (!subscription.enabled) return ['disabled', `The subscription is disabled. ${UNLESS_BEGUN}`]
  if (!receivesType(subscription, eventType))
    return ['not-subscribed', `The subscription no longer receives ${eventType}. ${UNLESS_BEGUN}`]
  const refusal = refusalOf(facts)
  if (refusal !== undefined)
    return ['filtered', `The filter of the subscription refuses it: ${refusal}. ${UNLESS_BEGUN}`]
  if (health.state === 'open') return ['cooling-down', coolingSentence(health)]
  return ['pending', FIRST_DUE]
}

/** The event was fanned out, but not to this subscription. */
function explainUnmatched(facts: Facts, fannedOutAt: string): Finding {
  const { eventType, subscription } = facts
  if (subscription === undefined) return ['unknown', NO_RECORD]
  const { createdAt } = subscription
  if (createdAt > fannedOutAt)
    return ['created-later', `Not sent: the subscription was created at ${createdAt}, after the event was fanned out.`]
  return (
    mismatch(subscription, facts) ?? [
      'changed-later',
      `Not sent: when the event was fanned out at ${fannedOutAt}, the subscription was disabled${filteredFields(subscription.filter, eventType) === undefined ? ' or' : ', its filter refused the event, or it'} did not receive ${eventType}.`,
    ]
  )
}

/** The event's record has expired, so the state of the subscription at the fan-out is unknown. */
function explainExpired(facts: Facts): Finding {
  return (facts.subscription && mismatch(facts.subscription, facts)) ?? ['unknown', NO_RECORD]
}

/** The journal still shows where the event went, although the records of its deliveries may have expired. */
function explainJournaled(facts: Facts, journaled: NonNullable<Facts['journaled']>): Finding {
  if (wasMatched(facts)) {
    return [
      'unknown',
      'The event went to this subscription. Its delivery has no record any more: it was delivered, withdrawn or expired, unless its first attempt is long overdue.',
    ]
  }
  const isCut = journaled.subscriptionIds.length < journaled.subscriptionCount
  return isCut ? explainExpired(facts) : explainUnmatched(facts, journaled.fannedOutAt)
}

function mismatch(subscription: Subscription, facts: Facts): Finding | undefined {
  const { eventType } = facts
  const types = shownTypes(subscription.eventTypes).join(', ')
  if (!receivesType(subscription, eventType))
    return ['not-subscribed', `Not sent: the subscription receives ${types}, but not ${eventType}.`]
  if (!subscription.enabled) return ['disabled', 'Not sent: the subscription is disabled.']
  const refusal = refusalOf(facts)
  return refusal === undefined ? undefined : ['filtered', `Not sent: ${refusal}.`]
}

const endOf = (attempt: Attempt | null): string | null =>
  attempt === null ? null : new Date(Date.parse(attempt.at) + attempt.durationMs).toISOString()

/** Why the present filter of the subscription refuses the event. Undefined: it does not, or the event's data is not known. */
const refusalOf = ({ subscription, eventType, data }: Facts): string | undefined =>
  data && filterRefusal(subscription?.filter, eventType, data)

/** The rule of `receives` without `enabled`: a disabled subscription has a verdict of its own. */
const receivesType = (subscription: Subscription, eventType: string): boolean =>
  receives({ ...subscription, enabled: true }, eventType)

const wasMatched = ({ event, journaled, subscriptionId }: Facts): boolean =>
  (event ?? journaled)?.subscriptionIds.includes(subscriptionId) ?? false

const FIRST_DUE = 'Due now: the first attempt is in progress or about to be made.'

const UNLESS_BEGUN = 'The delivery will not be sent, unless its first attempt has already begun.'

const NO_RECORD =
  'There is no record of a delivery: it was delivered, withdrawn or expired long ago, or the event did not match the subscription.'

function coolingSentence(health: EndpointHealth, delivery?: ListedDelivery, end = ''): string {
  const next = delivery?.nextAttemptAt ?? null
  const isUsedUp = next !== null && health.openUntilMs !== null && Date.parse(next) < health.openUntilMs
  const then = isUsedUp && end === '' ? ', still in the cool-down, and then waits for its next slot' : ''
  const after = next === null ? '' : ` This delivery is due again at about ${next}${then}.`
  const { consecutiveFailures } = health
  // A single failure with Retry-After starts a cool-down.
  const row = consecutiveFailures > 1 ? ` ${times(consecutiveFailures)} in a row` : ''
  return `The endpoint failed${row} and is not contacted until ${coolingUntil(health)}.${after}${end}`
}

/**
 * Follows the delivery worker's rule for first attempts (`admit.ts`): a test can have any event type, and a delivery that
 * was sent again is parked again instead of being withdrawn.
 */
function endSentence(facts: Facts): string {
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

function heldSentence({ nextAttemptAt, attempt, url }: ListedDelivery, { subscription, nowMs }: Facts): string {
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

function pendingSentence({ attempt }: ListedDelivery): string {
  return attempt === 0 ? FIRST_DUE : 'Sent again on request: the next attempt is due now.'
}

function sendAgainSentence({ subscription, isBodyDropped, delivery }: Facts): string {
  if (isBodyDropped === true) return 'Its body is no longer kept, so it cannot be sent again.'
  if (subscription === undefined) return 'The subscription was deleted, so it cannot be sent again.'
  if (!subscription.enabled) return 'The subscription is disabled: enable it to send the delivery again.'
  const isRecovered = subscription.recoverRejected && delivery?.parkedReason === 'rejected' && delivery.run === 1
  return `${isRecovered ? RECOVERED : ''}You can send it again.`
}

const RECOVERED =
  'With recoverRejected, the next 2xx of the endpoint starts a recovery of what it has rejected since the setting was made. '

const coolingUntil = ({ openUntilMs }: EndpointHealth): string | null =>
  openUntilMs === null ? null : new Date(openUntilMs).toISOString()

function parkedSentence({ parkedReason, attempt, attempts }: ListedDelivery): string {
  const last = attempts.at(-1)
  if (parkedReason === 'rejected') return `${attemptSentence(last)}, which is not retried.`
  if (attempt === 0) return 'the schedule ended, or too many deliveries were held, before an attempt could be made.'
  return `the schedule ended after ${times(attempt, 'attempt')}; ${attemptSentence(last)}.`
}

function failureSentence(last: Attempt | undefined): string {
  if (last === undefined) return 'No attempt was made yet, usually because the endpoint was in a cool-down.'
  const sentence = attemptSentence(last)
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`
}

function attemptSentence(attempt: Attempt | undefined): string {
  if (attempt === undefined) return 'no attempt is recorded'
  const { attempt: number, at, status, outcome } = attempt
  const result = status === null ? `got no answer (${outcome})` : `was answered with ${status}`
  return `attempt ${number} at ${at} ${result}`
}

const times = (count: number, noun = 'time'): string => `${count} ${noun}${count === 1 ? '' : 's'}`
