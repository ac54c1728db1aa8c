import { type Attempt, filteredFields, type Subscription } from '@switchhook/contracts'
import type { ListedDelivery } from '@switchhook/store'
import { momentOf } from '../subscriptions/endpoint-health.ts'
import { shownTypes } from '../subscriptions/subscribed-types.ts'
import { attemptView } from './delivery-schema.ts'
import {
  attemptSentence,
  coolingSentence,
  endSentence,
  type Facts,
  FIRST_DUE,
  failureSentence,
  heldSentence,
  NO_RECORD,
  parkedSentence,
  pendingSentence,
  receivesType,
  refusalOf,
  sendAgainSentence,
  UNLESS_BEGUN,
  wasMatched,
} from './explain-sentences.ts'

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
    explanation: delivery?.trial === undefined ? sentence : `Test delivery. ${sentence}`,
    deliveryId: delivery !== undefined || wasMatched(facts) ? facts.deliveryId : null,
    attemptCount: delivery?.attempt ?? 0,
    lastAttempt: lastAttempt && attemptView(lastAttempt),
    deliveredAt: verdict === 'delivered' ? endOf(lastAttempt) : null,
    nextAttemptAt: delivery?.nextAttemptAt ?? null,
    coolingUntil: verdict === 'cooling-down' ? momentOf(facts.health.openUntilMs) : null,
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
